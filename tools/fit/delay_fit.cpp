#include "lagtape/tools/fit/delay_fit.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

namespace lagtape {
namespace {

/// The object with names alone as lists of one.
Json with_lists(Json object) {
  for (const char* key : {"path", "target", "input"})
    if (object.is_object() && object.contains(key) && object[key].is_string())
      object[key] = Json::array({object[key]});
  return object;
}

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

/// The first reading of a state; 0: there is none.
double first_reading(const DelayReadings& readings, const std::string& state) {
  const std::size_t s = place_of(readings.states, state);
  if (s == readings.states.size()) return 0;
  const std::vector<double> values = known_readings(readings, s).second;
  return values.empty() ? 0 : values.front();
}

}  // namespace

bool DelayFit::applies(const Json& document) {
  if (!document.is_object() || !document.contains("cells") || !document["cells"].is_object()) return false;
  for (const auto& [name, cell] : document["cells"].items())
    if (cell.is_object() && cell.contains("ode")) return true;
  return false;
}

DelayFit::DelayFit(const ExperimentFile& file) : document_(file.document) {
  JsonErrors errors;
  const Json given = with_lists(document_.value("data", Json::object()));
  const DelayData data = read_section<DelayData>(given, "/data", kDelayDataOptions, errors);
  errors.raise(file.where);
  section_ = read_fit_section(file);
  scales_.assign(data.targets.size(), 1);
  const std::int64_t width = std::max<std::int64_t>(1, std::ssize(data.inputs));
  const bool has_past = !DelayEquations(document_, "", width).observed_states().empty();
  for (const std::string& path : data.paths) {
    DelayReadings readings =
        read_delay_readings((file.base / path).string(), data, section_.deviation, has_past);
    DelayEquations equations = equations_of(document_, readings);
    files_.push_back({path, std::move(readings), std::move(equations)});
  }
  find_numbers();
}

DelayEquations DelayFit::equations_of(const Json& document, const DelayReadings& readings) const {
  DelayEquations equations(document, "", std::max<std::int64_t>(1, readings.input.width));
  equations.fit_weights();
  for (const auto& [param, value] : fixed_) equations.set(param, value);
  for (const std::string& state : equations.observed_states()) {
    constexpr std::string_view kForced = "_data";  // the state's readings, while past values are forced
    std::size_t column = place_of(readings.states, state);
    if (column == readings.states.size() && state.ends_with(kForced))
      column = place_of(readings.states, state.substr(0, state.size() - kForced.size()));
    if (column == readings.states.size())
      throw InputError({.pointer = "/data/target"}, Rule::missing,
                       text_of("the history of '", state, "' is observed, which needs a column of that name"),
                       {}, "Name it in \"target\".");
    equations.observe(state, readings.past_times, readings.past[column]);
  }
  return equations;
}

void DelayFit::find_numbers() {
  std::vector<std::string> known;
  for (const DelayEquations::Param& param : files_[0].equations.params()) {
    known.push_back(param.name);
    const auto is_in = [&](const std::vector<std::string>& names) {
      return std::ranges::find(names, param.name) != names.end();
    };
    if (!param.trained || !(section_.only.empty() || is_in(section_.only))) continue;
    constexpr std::string_view kHistory = ".history";  // of a state, which is each file's own
    const bool is_history = param.name.ends_with(kHistory);
    const bool is_own = files_.size() > 1 && (is_history || is_in(section_.own));
    const std::string state = is_history ? param.name.substr(0, param.name.size() - kHistory.size()) : "";
    for (std::size_t f = 0; f < (is_own ? files_.size() : 1); ++f)
      for (std::size_t i = 0; i < param.values.size(); ++i) {
        const std::string name = param.is_scalar ? param.name : text_of(param.name, "[", i, "]");
        numbers_.push_back({name, is_own ? f : kAll});
        const double start =
            is_history && param.values[i] == 0 ? first_reading(files_[f].readings, state) : param.values[i];
        params_.push_back(
            {is_own ? text_of(name, " of ", files_[f].name) : name, start, param.bounds, param.unit});
      }
  }
  for (const auto& [key, names] : {std::pair("own", section_.own), std::pair("only", section_.only)})
    for (const std::string& name : names)
      if (std::ranges::find(known, name) == known.end())
        throw InputError(unknown_name("param", name, known).within({.pointer = text_of("/fit/", key)}));
}

double DelayFit::end() const {
  double end = 0;
  for (const File& file : files_) end = std::max(end, file.readings.times.back());
  return end;
}

std::vector<double> DelayFit::times_of(const File& file) const {
  const std::vector<double>& times = file.readings.times;
  return {times.begin(), std::ranges::upper_bound(times, horizon_)};
}

SolvedEquations DelayFit::solve(std::size_t file, std::span<const double> values,
                                const std::vector<double>& times, bool derivatives) {
  File& of = files_[file];
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const Number& number = numbers_[i];
    if (number.restart >= 0 && number.file == file)
      of.restarts[static_cast<std::size_t>(number.restart)].states[static_cast<std::size_t>(number.at)] =
          values[i];
    else if (number.restart < 0 && (number.file == kAll || number.file == file))
      of.equations.set(number.param, values[i]);
  }
  return of.equations.solve(times, derivatives, of.readings.input, of.restarts);
}

const SolvedEquations::Series& DelayFit::series_of(const SolvedEquations& solved,
                                                   const std::string& state) const {
  std::vector<std::string> known;
  for (const SolvedEquations::Series& series : solved.states) {
    if (series.name == state) return series;
    known.push_back(series.name);
  }
  throw InputError(unknown_name("state", state, known).within({.pointer = "/data/target"}));
}

double DelayFit::unit_of(std::size_t file, const std::string& state) const {
  const DelayReadings& readings = files_[file].readings;
  const std::size_t s = place_of(readings.states, state);
  if (s >= readings.deviations.size()) return 1;
  const std::vector<double>& all = readings.deviations[s];
  const auto known = std::ranges::find_if(all, [](double one) { return one > 0; });
  return known == all.end() ? 1 : *known;
}

std::int64_t DelayFit::count_rows() const {
  std::int64_t rows = 0;
  for (const File& file : files_) {
    const std::ptrdiff_t count = std::ssize(times_of(file));
    for (const std::vector<double>& readings : file.readings.values)
      rows += std::count_if(readings.begin(), readings.begin() + count,
                            [](double reading) { return !std::isnan(reading); });
    for (const DelayRestart& restart : file.restarts) rows += std::ssize(restart.states);
  }
  return rows;
}

/// Calls visit_row(file, solution, row) for every reading that counts, and for every gap.
template <class Visit>
void DelayFit::visit(std::span<const double> values, bool derivatives, Visit visit_row) {
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const DelayReadings& readings = files_[f].readings;
    const std::vector<double> times = times_of(files_[f]);
    const SolvedEquations solved = solve(f, values, times, derivatives);
    for (std::size_t s = 0; s < readings.states.size(); ++s) {
      const SolvedEquations::Series& series = series_of(solved, readings.states[s]);
      for (std::size_t t = 0; t < times.size(); ++t) {
        if (std::isnan(readings.values[s][t])) continue;
        const double unit = scales_[s] * (readings.deviations.empty() ? 1 : readings.deviations[s][t]);
        visit_row(f, solved, Row{(series.y[t] - readings.values[s][t]) / unit, [&, t, unit](std::size_t by) {
                                   return series.d[by][t] / unit;
                                 }});
      }
    }
    for (std::size_t g = 0; g < solved.gaps.size(); ++g) {
      const double weight = gap_weight_ / unit_of(f, solved.states[g % solved.states.size()].name);
      visit_row(f, solved, Row{solved.gaps[g] * weight, [&, g, weight](std::size_t by) {
                                 return solved.gaps_d[by][g] * weight;
                               }});
    }
  }
}

std::vector<double> DelayFit::residuals(std::span<const double> values) {
  std::vector<double> residuals;
  try {
    visit(values, false,
          [&](std::size_t, const SolvedEquations&, const Row& row) { residuals.push_back(row.residual); });
    has_solution_ = true;
  } catch (const InputError& error) {
    const Rule rule = error.problems().front().rule;
    if (rule != Rule::not_finite) {
      if (!has_solution_) throw;
      turned_back_ = error.problems().front();
    }
    residuals.assign(static_cast<std::size_t>(count_rows()), NAN);  // a trial step that is turned back
  }
  return residuals;
}

DenseMatrix DelayFit::jacobian(std::span<const double> values) {
  const auto count = static_cast<std::int64_t>(numbers_.size());
  DenseMatrix jacobian(count_rows(), count);
  std::int64_t row = 0;
  visit(values, true, [&](std::size_t f, const SolvedEquations& solved, const Row& of) {
    for (std::int64_t i = 0; i < count; ++i)
      if (numbers_[i].file == kAll || numbers_[i].file == f)
        jacobian.at(row, i) = of.derivative(place_of(solved.params, numbers_[i].param));
    ++row;
  });
  return jacobian;
}

std::vector<FitTrace> DelayFit::traces(std::span<const double> values) {
  constexpr int kPoints = 600;
  std::vector<FitTrace> traces;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const DelayReadings& readings = files_[f].readings;
    std::vector<double> between;
    for (int k = 0; k <= kPoints; ++k) between.push_back(readings.times.back() * k / kPoints);
    const SolvedEquations at = solve(f, values, readings.times, false),
                          curve = solve(f, values, between, false);
    for (std::size_t s = 0; s < readings.states.size(); ++s)
      traces.push_back({.name = readings.states[s],
                        .file = files_.size() > 1 ? files_[f].name : "",
                        .t = readings.times,
                        .readings = readings.values[s],
                        .fitted = series_of(at, readings.states[s]).y,
                        .curve_t = between,
                        .curve = series_of(curve, readings.states[s]).y});
  }
  return traces;
}

bool DelayFit::fix(const std::string& param, double value) {
  try {
    for (File& file : files_) file.equations.set(param, value);
  } catch (const InputError&) {
    return false;
  }
  fixed_.emplace_back(param, value);
  return true;
}

void DelayFit::start_from(std::span<const double> values) {
  for (std::size_t i = 0; i < params_.size(); ++i) params_[i].start = values[i];
}

}  // namespace lagtape
