#include "lagtape/data/series/csv_recording.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/data/series/fill.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/calendar.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

/// A file, and the order of its rows in time.
struct CsvSource {
  const SeriesOptions& options;
  const NamedTable& table;
  std::vector<std::int64_t> order = {};  ///< rows of the file; empty: as they are

  std::int64_t rows() const { return table.rows(); }
  std::int64_t in_file(std::int64_t row) const {
    return order.empty() ? row : order[static_cast<std::size_t>(row)];
  }
  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return table.cell(in_file(row), column);
  }
  Place place(std::int64_t row, std::int64_t column) const { return table.place(in_file(row), column); }
  /// The number of a column by its name or number.
  std::int64_t column(const Json& entry) const {
    if (entry.is_string()) return table.column(entry.get<std::string>());
    const auto number = entry.get<std::int64_t>();
    if (number < table.columns()) return number;
    throw InputError({table.where()}, Rule::shape, text_of("columns are 0..", table.columns() - 1),
                     text_of(number));
  }
};

// ---- times ----

/// Reads the column of times, and puts the rows in their order.
TimeAxis read_axis(CsvSource& csv, std::int64_t column) {
  TimeAxis axis;
  for (std::int64_t row = 0; row < csv.rows(); ++row) {
    const std::string_view text = csv.cell(row, column);
    const std::optional<double> number = parse_number(text);
    const std::optional<ReadTime> date = number ? std::nullopt : read_time(text);
    if (!date && !(number && std::abs(*number) <= kLatestTime)) {
      throw InputError(Problem{.place = csv.place(row, column),
                               .rule = Rule::syntax,
                               .found = quote(text, 40),
                               .expected = "a date such as 2024-01-31 13:00, or seconds since 1970"});
    }
    axis.times.push_back(date ? seconds_of(date->time) : *number);
    const std::optional<double> offset = date ? date->offset : std::nullopt;
    if (row == 0) axis.has_dates = date.has_value();
    if (row == 0) axis.offset = offset;
    axis.has_offsets = axis.has_offsets || offset.has_value();
    if (offset != axis.offset) axis.offset = {};
  }
  if (!std::ranges::is_sorted(axis.times)) {
    csv.order.resize(axis.times.size());
    std::iota(csv.order.begin(), csv.order.end(), 0);
    std::ranges::stable_sort(csv.order, {},
                             [&](std::int64_t row) { return axis.times[static_cast<std::size_t>(row)]; });
    std::ranges::sort(axis.times);
  }
  for (std::int64_t row = 1; row < csv.rows(); ++row) {
    const auto i = static_cast<std::size_t>(row);
    if (axis.times[i] != axis.times[i - 1]) continue;
    throw InputError({csv.table.where()}, Rule::conflict,
                     text_of("lines ", csv.table.line(csv.in_file(row - 1)), " and ",
                             csv.table.line(csv.in_file(row)), ": both are of ", csv.cell(row, column),
                             ", expected one row for each time. Where clocks are set back, an offset tells "
                             "such hours apart, as in 2024-10-27T02:00+01:00."));
  }
  return axis;
}

/// Finds the interval of the rows, and divides them where times are missing.
std::vector<RowRange> divide_at_gaps(TimeAxis& axis) {
  const std::vector<double>& times = axis.times;
  std::vector<double> steps;
  for (std::size_t i = 1; i < times.size(); ++i) steps.push_back(times[i] - times[i - 1]);
  std::ranges::nth_element(steps, steps.begin() + std::ssize(steps) / 2);
  axis.interval = steps[steps.size() / 2];
  std::vector<RowRange> segments = {{0, 1}};
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] - times[i - 1] > 1.5 * axis.interval) segments.push_back({static_cast<std::int64_t>(i), 0});
    segments.back().rows += 1;
  }
  return segments;
}

void read_times(CsvSource& csv, Recordings& result) {
  const std::int64_t column = csv.table.column(csv.options.time);
  result.axis = read_axis(csv, column);
  if (csv.rows() > 1) {
    std::vector<RowRange> segments = divide_at_gaps(result.axis);
    std::string note = text_of(csv.rows(), " rows, one every ", result.axis.interval, " s");
    if (segments.size() > 1)
      note += text_of(", with ", segments.size() - 1,
                      segments.size() == 2 ? " gap, before " : " gaps, the first before ",
                      csv.cell(segments[1].first, column),
                      csv.options.across_gaps ? "; windows reach over them (across_gaps)"
                                              : "; no window reaches over one");
    result.notes.push_back(note);
    if (!csv.options.across_gaps) result.segments = std::move(segments);
  }
  if (!csv.order.empty()) result.notes.emplace_back("rows were sorted by time");
}

// ---- numbers ----

[[noreturn]] void refuse_cell(const CsvSource& csv, std::int64_t row, std::int64_t column) {
  const SeriesOptions& options = csv.options;
  const std::string_view text = csv.cell(row, column);
  std::string hint;
  const auto is_this = [&](const Json& entry) { return csv.column(entry) == column; };
  if (parse_number(text, options.decimal)) {
    hint = R"(A cell without a measurement is left empty, and "missing" says what takes its place.)";
  } else if (has_thousands(text, options.decimal)) {
    hint = "Write thousands without separators.";
    if (options.decimal == '.' && parse_number(text, ','))
      hint += R"( If the comma is a decimal point: "decimal": ",".)";
  } else if (options.decimal == '.' && parse_number(text, ',')) {
    hint = R"(With "decimal": "," commas are decimal points.)";
  } else if (options.decimal != '.' && parse_number(text, '.')) {
    hint = R"(Without "decimal": "," points are decimal points.)";
  } else if (options.target.is_array() && std::ranges::any_of(options.target, is_this)) {
    hint = R"(The targets of a recording are numbers; classes are learnt by the task "arrays".)";
  } else if (options.input.is_null()) {
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

/// The numbers of a column by time, NaN where there is none.
Column read_numbers(const CsvSource& csv, std::int64_t source) {
  Column column{.name = csv.table.name_of(source), .values = Tensor({csv.rows()}, Dtype::f64)};
  double* to = column.values.values<double>().data();
  for (std::int64_t row = 0; row < csv.rows(); ++row) {
    const std::string_view text = csv.cell(row, source);
    const std::optional<double> value = parse_number(text, csv.options.decimal);
    if (value && std::isfinite(*value)) {
      to[row] = *value;
      continue;
    }
    if (!is_missing(text)) refuse_cell(csv, row, source);
    column.filled.resize(static_cast<std::size_t>(csv.rows()));
    column.filled[static_cast<std::size_t>(row)] = true;
    to[row] = std::numeric_limits<double>::quiet_NaN();
  }
  return column;
}

/// Reads the columns that are measured, each once. Returns their numbers in the file.
std::vector<std::int64_t> read_measured(const CsvSource& csv, Recordings& result) {
  const SeriesOptions& options = csv.options;
  std::unordered_map<std::int64_t, std::int64_t> places;
  std::vector<std::int64_t> sources;
  const auto measured = [&](std::int64_t source) {
    const auto [place, is_new] = places.emplace(source, std::ssize(result.columns));
    if (is_new) {
      result.columns.push_back(read_numbers(csv, source));
      sources.push_back(source);
    }
    return place->second;
  };
  const auto is_category = [&](const Json& entry) {
    return entry.is_string() && std::ranges::find(options.categories, entry.get<std::string>(),
                                                  &Category::column) != options.categories.end();
  };
  if (options.input.is_null()) {
    const std::int64_t time = options.time.empty() ? -1 : csv.table.column(options.time);
    for (std::int64_t column = 0; column < csv.table.columns(); ++column)
      if (column != time) result.input.push_back(measured(column));
  } else {
    for (const Json& entry : options.input)
      if (!is_category(entry)) result.input.push_back(measured(csv.column(entry)));
  }
  result.target = result.input;
  if (!options.target.is_null()) {
    result.target.clear();
    for (const Json& entry : options.target) result.target.push_back(measured(csv.column(entry)));
  }
  for (const std::int64_t target : result.target)
    result.columns[static_cast<std::size_t>(target)].role = ColumnRole::target;
  return sources;
}

/// The number of last rows in which every target is missing.
std::int64_t future_rows(const Recordings& result) {
  std::int64_t future = 0;
  const auto is_known = [&](std::int64_t column) {
    return !result.column(column).is_filled(result.rows - 1 - future);
  };
  while (future < result.rows && std::ranges::none_of(result.target, is_known)) ++future;
  return future;
}

/// Fills the holes of a column but for the last rows, and gives up segments in which it has no number.
void fill_column(Column& column, std::int64_t rows, Missing missing, std::vector<RowRange>& segments) {
  const auto known = column.values.values<double>().first(static_cast<std::size_t>(rows));
  std::erase_if(segments, [&](const RowRange& segment) {
    const std::int64_t end = std::min(segment.end(), rows);
    return end > segment.first && !fill_missing(known.subspan(static_cast<std::size_t>(segment.first),
                                                              static_cast<std::size_t>(end - segment.first)),
                                                missing);
  });
}

void treat_missing(const CsvSource& csv, const std::vector<std::int64_t>& sources, Recordings& result) {
  const Missing missing = csv.options.missing;
  std::int64_t filled = 0;
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    Column& column = result.columns[i];
    if (column.filled.empty()) continue;
    const std::int64_t rows = result.rows - (column.role == ColumnRole::target ? result.future : 0);
    const auto holes = std::count(column.filled.begin(), column.filled.begin() + rows, true);
    if (holes == 0) continue;
    if (missing == Missing::error) {
      const auto first = std::ranges::find(column.filled, true) - column.filled.begin();
      throw InputError(csv.place(first, sources[i]), Rule::missing,
                       text_of("there is no number. ", holes, " of ", result.rows,
                               " rows have none in this column; \"missing\": ",
                               "\"interpolate\" or \"hold\" fills them."));
    }
    filled += holes;
    fill_column(column, rows, missing, result.segments);
  }
  constexpr const char* kByLines =
      "filled by lines to later numbers, which a forecast does not know (\"hold\" and \"mask\" do without)";
  if (filled > 0)
    result.notes.push_back(text_of(filled, filled == 1 ? " cell" : " cells", " without a number ",
                                   missing == Missing::mask          ? "masked"
                                   : missing == Missing::interpolate ? kByLines
                                                                     : "filled"));
  if (result.segments.empty())
    throw InputError({csv.table.where()}, Rule::missing,
                     "a column that \"input\" or \"target\" names has no numbers.");
}

// ---- columns that are made ----

void add_input(Recordings& result, Column column) {
  result.input.push_back(std::ssize(result.columns));
  result.columns.push_back(std::move(column));
}

/// Gives each input a mask.
void add_masks(Recordings& result) {
  for (const std::int64_t input : std::vector(result.input)) {
    Column mask{.name = name_of_mask(result.column(input).name),
                .kind = ColumnKind::mask,
                .values = Tensor::full({result.rows}, Dtype::f32, 1),
                .masks = input};
    for (std::int64_t row = 0; row < result.rows; ++row)
      if (result.column(input).is_filled(row)) mask.values.set(row, 0);
    add_input(result, std::move(mask));
  }
}

/// Refuses words that are too many: every one becomes a number in every row, and a list of names or codes by mistake
/// has very many.
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

/// Adds an input of each word.
void add_category(const CsvSource& csv, const Category& category, Recordings& result) {
  const std::int64_t source = csv.table.column(category.column);
  std::unordered_map<std::string_view, float*> ones;
  for (const std::string& value : category.values) {
    add_input(result, {.name = name_of_word(category.column, value),
                       .kind = ColumnKind::category,
                       .values = Tensor({result.rows}, Dtype::f32)});
    ones.emplace(value, result.columns.back().values.values<float>().data());
  }
  for (std::int64_t row = 0; row < result.rows; ++row) {
    const std::string_view word = csv.cell(row, source);
    const auto found = ones.find(word);
    if (found != ones.end()) {
      found->second[row] = 1;
    } else if (!is_missing(word)) {
      throw InputError(unknown_name("word", word, category.values).within(csv.place(row, source)));
    } else if (csv.options.missing == Missing::error) {
      throw InputError(csv.place(row, source), Rule::missing,
                       text_of("there is no word. With \"missing\", such as \"hold\", ",
                               "a cell without one is none of the words."));
    }
  }
}

void add_calendar(const std::string& name, Recordings& result) {
  for (const bool is_sine : {true, false}) {
    Column column{.name = name_of_angle(name, is_sine),
                  .kind = ColumnKind::calendar,
                  .role = ColumnRole::future,
                  .values = Tensor({result.rows}, Dtype::f64),
                  .at_time = [is_sine, &input = calendar_input(name)](double time) {
                    return is_sine ? std::sin(input.angle(time)) : std::cos(input.angle(time));
                  }};
    std::ranges::transform(result.axis.times, column.values.values<double>().begin(), column.at_time);
    add_input(result, std::move(column));
  }
}

}  // namespace

NamedTable read_table(const SeriesOptions& options, const std::filesystem::path& path) {
  const std::string where = path.string();
  return {TextTable(read_file(path), where, options.separator, options.decimal), where,
          std::string(1, options.decimal)};
}

Recordings read_csv_recording(const SeriesOptions& options, const std::filesystem::path& path,
                              bool allow_future) {
  const NamedTable table = read_table(options, path);
  CsvSource csv{.options = options, .table = table};
  Recordings result{.rows = table.rows(), .recordings = {{0, table.rows()}}, .segments = {{0, table.rows()}}};
  if (!options.time.empty()) read_times(csv, result);
  const std::vector<std::int64_t> sources = read_measured(csv, result);
  if (allow_future) result.future = future_rows(result);
  treat_missing(csv, sources, result);
  if (options.missing == Missing::mask) add_masks(result);
  check_words(csv, result.columns.size());
  for (const Category& category : options.categories) add_category(csv, category, result);
  for (const std::string& name : options.calendar) add_calendar(name, result);
  return result;
}

}  // namespace lagtape
