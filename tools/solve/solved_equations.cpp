#include "lagtape/tools/solve/solved_equations.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/table/number.h"
#include "lagtape/tools/forecast/result_columns.h"

namespace lagtape {
namespace {

/// The numbers of a text between these characters; none where one of them is not a number.
std::optional<std::vector<double>> numbers_of(std::string_view text, char between) {
  std::vector<double> numbers;
  while (true) {
    const std::size_t end = text.find(between);
    const std::optional<double> number = parse_number<double>(trimmed(text.substr(0, end)));
    if (!number || !std::isfinite(*number)) return std::nullopt;
    numbers.push_back(*number);
    if (end == std::string_view::npos) return numbers;
    text.remove_prefix(end + 1);
  }
}

/// The column of times: "t" or "time", else the first.
std::int64_t column_of_times(const Csv& table) {
  for (const char* name : {"t", "time"})
    if (const auto found = std::ranges::find(table.header, name); found != table.header.end())
      return found - table.header.begin();
  return 0;
}

std::vector<double> column_of(const Csv& table, std::int64_t column) {
  std::vector<double> numbers;
  for (std::int64_t row = 0; row < table.values.size(0); ++row)
    numbers.push_back(table.values.at(row * table.values.size(1) + column));
  return numbers;
}

/// "y[1]" -> "y"; the state that a number belongs to.
std::string state_of(const std::string& series) { return series.substr(0, series.find('[')); }

Json by_state(const SolvedEquations& solved,
              const std::function<const std::vector<double>&(const SolvedEquations::Series&)>& numbers) {
  Json object = Json::object();
  for (const SolvedEquations::Series& series : solved.states) {
    const std::string state = state_of(series.name);
    if (state == series.name) {
      object[state] = numbers(series);
      continue;
    }
    Json& rows = object[state];
    for (std::size_t t = 0; t < solved.times.size(); ++t) {
      if (rows.size() <= t) rows.push_back(Json::array());
      rows[t].push_back(numbers(series)[t]);
    }
  }
  return object;
}

}  // namespace

std::vector<double> times_of(const std::string& text) {
  constexpr double kMost = 1e8;
  if (const auto list = numbers_of(text, ',')) return *list;
  if (const auto range = numbers_of(text, ':'); range && range->size() == 3) {
    const auto [begin, end, step] = std::tuple((*range)[0], (*range)[1], (*range)[2]);
    const double count = std::floor((end - begin) / step * (1 + 1e-12) + 1e-9);
    if (!(step != 0 && count >= 0 && count < kMost))
      throw InputError({.item = "--times"}, Rule::out_of_range,
                       "A:B:STEP goes from A up to B in steps above 0", text);
    std::vector<double> times;
    for (std::int64_t k = 0; k <= static_cast<std::int64_t>(count); ++k)
      times.push_back(begin + static_cast<double>(k) * step);
    return times;
  }
  if (text.find_first_not_of("0123456789.,:+-eE ") == std::string::npos)
    throw unexpected({.item = "--times"}, Rule::syntax, "times a,b,c, a range A:B:STEP or a file", text);
  const Csv table = read_csv(text);
  return column_of(table, column_of_times(table));
}

DelayInput read_delay_input(const std::string& file) {
  const Csv table = read_csv(file);
  const std::int64_t time = column_of_times(table), columns = table.values.size(1);
  DelayInput input{.times = column_of(table, time), .values = {}, .width = columns - 1};
  if (columns < 2)
    throw InputError({.file = file}, Rule::missing,
                     "an input has a column of times and at least one of its own");
  for (std::int64_t c = 0; c < std::ssize(table.header); ++c)
    if (c != time) input.names.push_back(table.header[static_cast<std::size_t>(c)]);
  for (std::size_t row = 1; row < input.times.size(); ++row)
    if (!(input.times[row] > input.times[row - 1]))
      throw InputError({.file = file}, Rule::out_of_range, "the times of an input ascend",
                       text_of(input.times[row], " after ", input.times[row - 1]));
  for (std::int64_t row = 0; row < table.values.size(0); ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      if (column != time) input.values.push_back(table.values.at(row * columns + column));
  return input;
}

void read_histories(DelayEquations& equations, const std::string& file) {
  const Csv table = read_csv(file);
  const std::int64_t time = column_of_times(table);
  const std::vector<double> times = column_of(table, time);
  for (std::size_t row = 1; row < times.size(); ++row)
    if (!(times[row] > times[row - 1]))
      throw InputError({.file = file}, Rule::out_of_range, "the times of a history ascend",
                       text_of(times[row], " after ", times[row - 1]));
  if (table.header.empty())
    throw InputError({.file = file}, Rule::missing, "a history has a row of names: t, and the states");
  for (std::int64_t c = 0; c < std::ssize(table.header); ++c)
    if (c != time) try {
        equations.observe(table.header[static_cast<std::size_t>(c)], times, column_of(table, c));
      } catch (const InputError& error) {
        throw error.within({.file = file});
      }
}

void set_param(DelayEquations& equations, const std::string& assignment) {
  const std::size_t equal = assignment.find('=');
  const std::optional<double> value =
      equal == std::string::npos ? std::nullopt
                                 : parse_number<double>(std::string_view(assignment).substr(equal + 1));
  if (!value)
    throw unexpected({.item = "--param"}, Rule::syntax, "NAME=VALUE, like tau=18",
                     text_of("'", assignment, "'"));
  try {
    equations.set(assignment.substr(0, equal), *value);
  } catch (const InputError& error) {
    throw error.within({.item = "--param"});
  }
}

std::vector<std::pair<std::string, double>> read_estimates(const std::string& file) {
  const Json document = read_json(file);
  std::vector<std::pair<std::string, double>> estimates;
  if (document.is_object() && document.contains("params") && document["params"].is_object())
    for (const auto& [name, row] : document["params"].items())
      if (row.is_object() && row.value("estimate", Json()).is_number())
        estimates.emplace_back(name, row["estimate"].get<double>());
  if (estimates.empty())
    throw InputError({.file = file}, Rule::missing, "there is no estimate of a param", {},
                     "It is a file of `lagtape fit EXPERIMENT --json`.");
  return estimates;
}

void set_estimates(DelayEquations& equations, const std::string& file) {
  equations.fit_weights();
  for (const auto& [name, value] : read_estimates(file)) try {
      equations.set(name, value);
    } catch (const InputError& error) {
      throw error.within({.file = file});
    }
}

Json json_of(const SolvedEquations& solved) {
  Json result = {{"t", solved.times}};
  result["y"] = by_state(solved, [](const auto& series) -> const std::vector<double>& { return series.y; });
  if (solved.params.empty()) return result;
  Json& derivatives = result["d"] = Json::object();
  for (std::size_t p = 0; p < solved.params.size(); ++p)
    derivatives[solved.params[p]] =
        by_state(solved, [&](const auto& series) -> const std::vector<double>& { return series.d[p]; });
  return result;
}

Csv csv_of(const SolvedEquations& solved) {
  std::vector<const std::vector<double>*> columns = {&solved.times};
  Csv table{.header = {"t"}, .values = {}};
  for (const auto& series : solved.states) {
    table.header.push_back(series.name);
    columns.push_back(&series.y);
  }
  for (const auto& series : solved.states)
    for (std::size_t p = 0; p < solved.params.size(); ++p) {
      table.header.push_back(text_of("d", series.name, "/d", solved.params[p]));
      columns.push_back(&series.d[p]);
    }
  const auto rows = static_cast<std::int64_t>(solved.times.size()),
             width = static_cast<std::int64_t>(columns.size());
  table.values = Tensor({rows, width}, Dtype::f64);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < width; ++column)
      table.values.set(row * width + column,
                       (*columns[static_cast<std::size_t>(column)])[static_cast<std::size_t>(row)]);
  return table;
}

std::string file_of(const SolvedEquations& solved, const std::string& ending) {
  if (ending == ".json") return json_of(solved).dump() + "\n";
  const Csv table = csv_of(solved);
  if (ending == ".csv") return serialize_csv(table);
  std::vector<ResultColumn> columns;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    Tensor cells({table.values.size(0)}, Dtype::f64);
    const std::vector<double> numbers = column_of(table, static_cast<std::int64_t>(c));
    for (std::size_t row = 0; row < numbers.size(); ++row)
      cells.set(static_cast<std::int64_t>(row), numbers[row]);
    columns.push_back({table.header[c], cells});
  }
  return file_of(columns, ending);
}

std::vector<PhaseAxis> phase_axes(const std::string& text, const DelayEquations& equations) {
  std::vector<PhaseAxis> axes;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = trimmed(rest.substr(0, comma));
    const std::size_t open = one.find('('), minus = one.find('-', open == std::string_view::npos ? 0 : open);
    PhaseAxis axis{.title = std::string(one), .state = std::string(trimmed(one.substr(0, open)))};
    if (open != std::string_view::npos) {
      if (!one.ends_with(')') || minus == std::string_view::npos ||
          trimmed(one.substr(open + 1, minus - open - 1)) != "t")
        throw unexpected({.item = "--phase"}, Rule::syntax, "two of NAME or NAME(t - LAG), like y(t - tau),y",
                         text_of("'", one, "'"));
      const std::string_view lag = trimmed(one.substr(minus + 1, one.size() - minus - 2));
      std::vector<std::string> known;
      std::optional<double> value = parse_number<double>(lag);
      for (const DelayEquations::Param& param : equations.params()) {
        known.push_back(param.name);
        if (param.name == lag && param.is_scalar) value = param.values.front();
      }
      if (!value) throw InputError(unknown_name("param", lag, known).within({.item = "--phase"}));
      axis.lag = *value;
    }
    axes.push_back(std::move(axis));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (axes.size() != 2)
    throw unexpected({.item = "--phase"}, Rule::syntax, "two names, like x,y", text_of("'", text, "'"));
  return axes;
}

std::vector<double> values_on(const PhaseAxis& axis, const DelayEquations& equations,
                              const std::vector<double>& times, const DelayInput& input) {
  std::vector<double> at = times;
  for (double& t : at) t -= axis.lag;
  const SolvedEquations solved = equations.solve(at, false, input);
  std::vector<std::string> known;
  for (const SolvedEquations::Series& series : solved.states) {
    if (series.name == axis.state) return series.y;
    known.push_back(series.name);
  }
  throw InputError(unknown_name("state", axis.state, known).within({.item = "--phase"}));
}

MeasuredOrder measure_order(DelayEquations equations, const std::vector<double>& times,
                            const DelayInput& input) {
  std::vector<SolvedEquations> all;
  for (const std::int64_t refined : {1, 2, 4, 8}) {
    equations.refine(refined);
    all.push_back(equations.solve(times, true, input));
  }
  MeasuredOrder order;
  const auto add = [&](const std::string& name, auto numbers) {
    MeasuredOrder::Row row{name, {}, {}};
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      double largest = 0;
      for (std::size_t s = 0; s < all[i].states.size(); ++s)
        for (std::size_t t = 0; t < times.size(); ++t)
          largest =
              std::max(largest, std::abs(numbers(all[i].states[s])[t] - numbers(all[i + 1].states[s])[t]));
      row.differences.push_back(largest);
      if (i > 0) row.orders.push_back(std::log2(row.differences[i - 1] / largest));
    }
    order.rows.push_back(std::move(row));
  };
  add("y", [](const auto& series) -> const std::vector<double>& { return series.y; });
  for (std::size_t p = 0; p < all[0].params.size(); ++p)
    add(all[0].params[p], [p](const auto& series) -> const std::vector<double>& { return series.d[p]; });
  return order;
}

Json json_of(const MeasuredOrder& order) {
  const auto numbers = [](const std::vector<double>& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(std::isfinite(value) ? Json(value) : Json());
    return list;
  };
  Json rows = Json::object();
  for (const MeasuredOrder::Row& row : order.rows)
    rows[row.of] = {{"differences", numbers(row.differences)}, {"orders", numbers(row.orders)}};
  return {{"order", rows}};
}

std::string to_string(const MeasuredOrder& order) {
  std::string text = "of, differences between steps of h, h/2, h/4 and h/8, orders\n";
  for (const MeasuredOrder::Row& row : order.rows) {
    text += row.of == "y" ? "y" : text_of("d y / d ", row.of);
    for (const double difference : row.differences) text += text_of(" ", difference);
    text += " :";
    for (const double value : row.orders) text += text_of(" ", std::round(value * 100) / 100);
    text += "\n";
  }
  return text;
}

}  // namespace lagtape
