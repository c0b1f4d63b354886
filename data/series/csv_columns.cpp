#include "lagtape/data/series/csv_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/data/series/fill.h"
#include "lagtape/data/table/missing_code.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/table/number_column.h"
#include "lagtape/data/time/calendar.h"

namespace lagtape {

namespace {

[[noreturn]] void refuse_cell(const CsvSource& csv, std::int64_t row, std::int64_t column) {
  const SeriesOptions& options = csv.options;
  const std::string_view text = csv.cell(row, column);
  std::string hint;
  if (hint = hint_for_number(text, options.table); !hint.empty()) {
    // It refers to the number itself.
  } else if (options.target.is_array() && csv.uses.is_target(column)) {
    hint = R"(The targets of a recording are numbers; the task "sequences" learns classes.)";
  } else if (options.reads_all()) {
    hint = R"(Name the columns to read in "input"; all others are ignored.)";
  } else if (!csv.table.names().empty()) {
    hint = R"(Columns of words are named in "categories".)";
  }
  throw InputError(Problem{.place = csv.place(row, column),
                           .rule = Rule::wrong_type,
                           .found = quote(text, 40),
                           .expected = "a finite number",
                           .hint = hint});
}

/// Replaces the first of several rows with the same time by the mean of their numbers.
void take_means(const CsvSource& csv, std::int64_t source, const std::vector<double>& codes,
                NumberColumn& column) {
  for (std::int64_t row = 0; row < csv.rows() && !csv.alike.empty(); ++row) {
    const auto alike = csv.alike.find(csv.in_file(row));
    if (alike == csv.alike.end()) continue;
    double sum = 0, count = 0;
    const auto add = [&](std::string_view text) {
      const std::optional<double> value = column.style.read(text, codes);
      if (!value && !is_missing(text)) refuse_cell(csv, row, source);
      if (!value || std::isnan(*value)) return;
      sum += *value;
      count += 1;
    };
    add(csv.cell(row, source));
    for (const std::int64_t other : alike->second) add(csv.cell_in_file(other, source));
    if (count == 0) continue;
    column.values.set(row, sum / count);
    if (!column.missing.empty()) column.missing[static_cast<std::size_t>(row)] = false;
  }
}

/// Finds the codes that may mean missing numbers. The number of a constant series is not a code.
std::string note_of_codes_in(const CsvSource& csv, const std::vector<Column>& columns) {
  std::vector<std::int64_t> series;
  for (std::int64_t row = 0; row < csv.rows() && csv.ids.size() > 1; ++row)
    series.push_back(csv.series_of(row));
  std::vector<NamedNumbers> numbers;
  for (const Column& column : columns) numbers.push_back({column.name, column.values.values<double>()});
  return note_of_codes(find_missing_codes(numbers, series));
}

/// The numbers of a column by time, NaN if missing.
Column read_numbers(const CsvSource& csv, std::int64_t source, PlainNumbers plain,
                    std::vector<std::string>& notes) {
  const std::string name = csv.table.name_of(source);
  const TableOptions options = csv.options.table.of_column(name);
  const GivenColumn::Numbers given = csv.numbers(source);
  NumberColumn numbers =
      given ? read_number_column(csv.rows(), given, options)
            : read_number_column({.rows = csv.rows(),
                                  .cell = [&](std::int64_t row) { return csv.cell(row, source); },
                                  .place = [&](std::int64_t row) { return csv.place(row, source); }},
                                 plain.known, std::move(plain.values), csv.table, options);
  if (numbers.refused >= 0) refuse_cell(csv, numbers.refused, source);
  take_means(csv, source, options.missing_codes, numbers);
  if (const std::string note = note_of_numbers(numbers, name, options); !note.empty()) notes.push_back(note);
  return {.name = name,
          .unit = numbers.style.unit.empty() ? csv.table.unit(source) : numbers.style.unit,
          .values = std::move(numbers.values),
          .filled = std::move(numbers.missing)};
}

/// Reads the numeric columns, each once. Returns their positions in the file.
std::vector<std::int64_t> read_measured(const CsvSource& csv, Panel& panel) {
  std::vector<std::int64_t> all;
  for (const auto& [source, role] : csv.uses.inputs) all.push_back(source);
  all.insert(all.end(), csv.uses.targets.begin(), csv.uses.targets.end());
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  const auto cell = [&](std::int64_t row, std::int64_t source) { return csv.cell(row, source); };
  std::erase_if(all, [&](std::int64_t source) { return csv.numbers(source) != nullptr; });
  std::vector<PlainNumbers> plain = read_plain_numbers(csv.rows(), all, cell, csv.options.table);
  std::unordered_map<std::int64_t, std::int64_t> places;
  std::vector<std::int64_t> sources;
  const auto measured = [&](std::int64_t source, ColumnRole role) {
    const auto [place, is_new] = places.emplace(source, std::ssize(panel.columns));
    if (is_new) {
      const auto text = std::ranges::find(all, source);
      PlainNumbers known;
      if (text != all.end()) known = std::move(plain[static_cast<std::size_t>(text - all.begin())]);
      panel.columns.push_back(read_numbers(csv, source, std::move(known), panel.notes));
      panel.columns.back().role = role;
      sources.push_back(source);
    }
    return place->second;
  };
  for (const auto& [source, role] : csv.uses.inputs) panel.add_input(measured(source, role), csv.options);
  for (const std::int64_t source : csv.uses.targets)
    panel.target.push_back(measured(source, ColumnRole::target));
  if (std::string note = note_of_codes_in(csv, panel.columns); !note.empty())
    panel.notes.push_back(std::move(note));
  return sources;
}

/// The number of rows at the end of a series in which every target is missing.
std::int64_t future_rows(const Panel& panel, const RowRange& series) {
  std::int64_t future = 0;
  const auto is_known = [&](std::int64_t column) {
    return !panel.column(column).is_filled(series.end() - 1 - future);
  };
  while (future < series.rows && std::ranges::none_of(panel.target, is_known)) ++future;
  return future;
}

/// The rows of a series in which a column may be filled, without the unknown rows at the end of a future.
RowRange rows_to_fill(const PanelSeries& series, const Column& column) {
  std::int64_t end = series.end();
  while (end > series.origin() && (column.role == ColumnRole::target || column.is_filled(end - 1))) --end;
  return {series.first, end - series.first};
}

/// Fills the gaps in a column except in the last rows of each series, and drops segments in which it has no
/// number.
void fill_column(const Panel& panel, Column& column, Missing missing, std::vector<RowRange>& segments) {
  const std::span<double> values = column.values.values<double>();
  auto series = panel.series.begin();
  RowRange known = rows_to_fill(*series, column);
  std::erase_if(segments, [&](const RowRange& segment) {
    while (segment.first >= series->end()) known = rows_to_fill(*++series, column);
    const std::int64_t end = std::min(segment.end(), known.end());
    return end > segment.first && !fill_missing(values.subspan(static_cast<std::size_t>(segment.first),
                                                               static_cast<std::size_t>(end - segment.first)),
                                                missing);
  });
}

/// How messages refer to one of several series: " of the series \"a\"".
std::string of_series(const Panel& panel, const PanelSeries& series) {
  return panel.series_columns.empty() ? std::string() : text_of(" of the series ", quote(series.name(), 40));
}

/// Fills all rows of a series with the number in its static column. Throws InputError if the column has two
/// different numbers there, or none.
void fill_fixed(const CsvSource& csv, const Panel& panel, const PanelSeries& series, Column& column,
                std::int64_t source) {
  double value = std::numeric_limits<double>::quiet_NaN();
  for (std::int64_t row = series.first; row < series.end(); ++row) {
    if (column.is_filled(row)) continue;
    if (std::isnan(value)) value = column.at(row);
    if (column.at(row) != value)
      throw InputError(csv.place(row, source), Rule::conflict,
                       text_of("a \"static\" column has one number in all rows", of_series(panel, series),
                               ", here ", value, " and ", column.at(row), "."));
  }
  if (std::isnan(value))
    throw InputError({csv.table.where()}, Rule::missing,
                     text_of("the \"static\" column ", quote(column.name), " has no number",
                             of_series(panel, series), "."));
  const std::span<double> values = column.values.values<double>();
  std::fill_n(values.begin() + series.first, series.rows, value);
}

void treat_missing(const CsvSource& csv, const std::vector<std::int64_t>& sources, Panel& panel) {
  const Missing missing = csv.options.missing;
  std::int64_t filled = 0;
  for (std::size_t i = 0; i < panel.columns.size(); ++i) {
    Column& column = panel.columns[i];
    if (column.role == ColumnRole::fixed) {
      for (const PanelSeries& series : panel.series) fill_fixed(csv, panel, series, column, sources[i]);
      column.filled.clear();
    }
    if (column.filled.empty()) continue;
    std::int64_t holes = 0, first = -1;
    for (const PanelSeries& series : panel.series) {
      const RowRange rows = rows_to_fill(series, column);
      for (std::int64_t row = rows.first; row < rows.end(); ++row) {
        if (!column.is_filled(row)) continue;
        if (holes++ == 0) first = row;
      }
    }
    if (holes == 0) continue;
    if (missing == Missing::error) {
      throw InputError(csv.place(first, sources[i]), Rule::missing,
                       text_of("there is no number. ", holes, " of ", panel.rows,
                               " rows have none in this column; \"missing\": ",
                               "\"interpolate\" or \"hold\" fills them."));
    }
    filled += holes;
    fill_column(panel, column, missing, panel.segments);
  }
  constexpr const char* kByLines =
      "filled by lines to later numbers, which a forecast does not know (\"hold\" and \"mask\" do without)";
  if (filled > 0)
    panel.notes.push_back(text_of(filled, filled == 1 ? " cell" : " cells", " without a number ",
                                  missing == Missing::mask          ? "masked"
                                  : missing == Missing::interpolate ? kByLines
                                                                    : "filled"));
  if (panel.segments.empty())
    throw InputError({csv.table.where()}, Rule::missing,
                     "a column that \"input\" or \"target\" names has no numbers.");
}

// ---- derived columns ----

void add_column(Panel& panel, Column column, const SeriesOptions& options) {
  panel.columns.push_back(std::move(column));
  panel.add_input(std::ssize(panel.columns) - 1, options);
}

/// Gives each input a mask.
void add_masks(const SeriesOptions& options, Panel& panel) {
  std::vector<std::int64_t> inputs;
  for (const PanelInput& input : panel.input)
    if (inputs.empty() || inputs.back() != input.column) inputs.push_back(input.column);
  for (const std::int64_t input : inputs) {
    const Column& of = panel.column(input);
    Column mask{.name = name_of_mask(of.name),
                .kind = ColumnKind::mask,
                .role = of.role,
                .values = Tensor::full({panel.rows}, Dtype::f32, 1),
                .masks = input};
    for (std::int64_t row = 0; row < panel.rows; ++row)
      if (of.is_filled(row)) mask.values.set(row, 0);
    add_column(panel, std::move(mask), options);
  }
}

/// Rejects categories with too many words: every word adds a number to every row, and a list of names or codes
/// that was given by mistake has very many.
void check_words(const CsvSource& csv, std::size_t columns) {
  constexpr std::size_t kMostWords = 4096;
  std::size_t words = 0;
  for (const Category& category : csv.options.categories) {
    words += category.values.size();
    if (category.values.size() > kMostWords)
      throw InputError(
          {csv.table.where()}, Rule::shape,
          text_of("column ", quote(category.column), ": ", category.values.size(),
                  " words make as many inputs in each of ", csv.rows(), " rows, at most ", kMostWords,
                  " are supported. Write rare words as one, or leave the column out."));
  }
  const double bytes = static_cast<double>(csv.rows()) * (static_cast<double>(columns * sizeof(double)) +
                                                          static_cast<double>(words * sizeof(float)));
  if (words == 0 || bytes <= static_cast<double>(system_memory()) / 2) return;
  throw InputError(
      {csv.table.where()}, Rule::no_memory,
      text_of(words, " words of \"categories\" in ", csv.rows(), " rows take ",
              bytes_of(static_cast<std::int64_t>(std::min(bytes, 9e18))),
              ", more than half of the memory. Write rare words as one, or leave a column out."));
}

ColumnRole role_of(const SeriesOptions& options, const Category& category) {
  for (const auto& [column, role] : options.inputs())
    if (column == category.column) return role;
  return ColumnRole::past;
}

/// Collects the words in the rows of a series. The inputs `columns` are indexed by word.
void take_words(const CsvSource& csv, const Category& category, const Panel& panel, const PanelSeries& series,
                const std::unordered_map<std::string_view, std::int64_t>& places,
                std::vector<Column>& columns) {
  const std::int64_t source = csv.table.column(category.column, {.pointer = "/data/categories"});
  const ColumnRole role = columns.empty() ? ColumnRole::past : columns.front().role;
  std::optional<std::int64_t> only;
  std::int64_t end = series.end();  // after the last row whose word is known
  while (end > series.origin() && is_missing(csv.cell(end - 1, source))) --end;
  for (std::int64_t row = series.first; row < series.end(); ++row) {
    const std::string_view word = csv.cell(row, source);
    const auto found = places.find(word);
    const bool is_known = found != places.end();
    if (is_known && role == ColumnRole::fixed && only.value_or(found->second) != found->second)
      throw InputError(
          csv.place(row, source), Rule::conflict,
          text_of("a \"static\" column has one word in all rows", of_series(panel, series), ", here ",
                  quote(category.values[static_cast<std::size_t>(*only)]), " and ", quote(word), "."));
    if (is_known) {
      only = found->second;
      columns[static_cast<std::size_t>(found->second)].values.set(row, 1);
    } else if (!is_missing(word)) {
      throw InputError(unknown_name("word", word, category.values).within(csv.place(row, source)));
    } else if (role == ColumnRole::fixed) {
      continue;
    } else if (row >= end) {
      for (Column& column : columns) column.values.set(row, std::numeric_limits<double>::quiet_NaN());
    } else if (csv.options.missing == Missing::error) {
      throw InputError(csv.place(row, source), Rule::missing,
                       text_of("there is no word. With \"missing\", such as \"hold\", ",
                               "a cell without one is none of the words."));
    }
  }
  if (role == ColumnRole::fixed && only)
    std::fill_n(columns[static_cast<std::size_t>(*only)].values.values<float>().begin() + series.first,
                series.rows, 1.0F);
}

/// Adds an input for each word of a category, which is 1 in the rows with that word.
void add_category(const CsvSource& csv, const Category& category, Panel& panel) {
  const ColumnRole role = role_of(csv.options, category);
  std::unordered_map<std::string_view, std::int64_t> places;
  std::vector<Column> columns;
  for (const std::string& value : category.values) {
    places.emplace(value, std::ssize(columns));
    columns.push_back({.name = name_of_word(category.column, value),
                       .kind = ColumnKind::category,
                       .role = role,
                       .values = Tensor({panel.rows}, Dtype::f32)});
  }
  for (const PanelSeries& series : panel.series) take_words(csv, category, panel, series, places, columns);
  for (Column& column : columns) add_column(panel, std::move(column), csv.options);
}

/// The calendar is known in advance. A row's calendar inputs are adjacent.
void add_calendar(const SeriesOptions& options, Panel& panel) {
  const std::int64_t first = std::ssize(panel.columns);
  for (const std::string& name : options.calendar)
    for (const bool is_sine : {true, false}) {
      Column column{.name = name_of_angle(name, is_sine),
                    .kind = ColumnKind::calendar,
                    .role = ColumnRole::future,
                    .values = Tensor({panel.rows}, Dtype::f64),
                    .at_time = [is_sine, &input = calendar_input(name)](double time) {
                      return is_sine ? std::sin(input.angle(time)) : std::cos(input.angle(time));
                    }};
      std::ranges::transform(panel.axis.times, column.values.values<double>().begin(),
                             [&](Instant time) { return column.at_time(panel.axis.clock_of(time)); });
      panel.columns.push_back(std::move(column));
    }
  for (const std::int64_t shift : options.shifts_of(ColumnRole::future))
    for (std::int64_t column = first; column < std::ssize(panel.columns); ++column)
      panel.input.push_back({column, shift});
}

/// Ends each series before its rows without targets, which training does not read.
void leave_out_future(const CsvSource& csv, Panel& panel) {
  std::int64_t future = 0, with_future = 0;
  auto series = panel.series.begin();
  for (RowRange& segment : panel.segments) {
    while (segment.first >= series->end()) ++series;
    segment.rows = std::min(segment.end(), series->origin()) - segment.first;
  }
  for (PanelSeries& one : panel.series) {
    future += one.future;
    with_future += one.future > 0 ? 1 : 0;
    one.rows -= std::exchange(one.future, 0);
  }
  if (future == 0) return;
  std::erase_if(panel.segments, [](const RowRange& segment) { return segment.rows <= 0; });
  if (panel.segments.empty()) throw InputError({csv.table.where()}, Rule::missing, "no row has a target.");
  panel.rows = panel.series.back().end();
  if (!panel.axis.times.empty()) panel.axis.times.resize(static_cast<std::size_t>(panel.rows));
  panel.notes.push_back(panel.series.size() == 1
                            ? text_of("the last ", future, future == 1 ? " row has" : " rows have",
                                      " no target, and are for forecasts")
                            : text_of("the last rows of ", with_future, " series, ", future,
                                      " in all, have no target, and are for forecasts"));
}

}  // namespace

void read_columns(const CsvSource& csv, bool may_end, Panel& panel) {
  const SeriesOptions& options = csv.options;
  const std::vector<std::int64_t> sources = read_measured(csv, panel);
  if (may_end || options.future.is_array())
    for (PanelSeries& series : panel.series) series.future = future_rows(panel, series);
  treat_missing(csv, sources, panel);
  if (options.missing == Missing::mask) add_masks(options, panel);
  check_words(csv, panel.columns.size());
  for (const Category& category : options.categories) add_category(csv, category, panel);
  add_calendar(options, panel);
  if (options.reads_nothing())
    add_column(panel,
               {kNothing, {}, ColumnKind::calendar, ColumnRole::fixed, Tensor({panel.rows}, Dtype::f32)},
               options);
  if (!may_end) leave_out_future(csv, panel);
}

}  // namespace lagtape
