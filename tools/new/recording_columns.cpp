#include "lagtape/tools/new/recording_columns.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/table/number_column.h"
#include "lagtape/data/time/time_detector.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/data/time/time_names.h"
#include "lagtape/data/time/time_zone.h"
#include "lagtape/tools/new/draft.h"
#include "lagtape/tools/new/recording_times.h"
#include "lagtape/tools/new/series_columns.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

constexpr double kDay = 86400;
constexpr std::size_t kMostWords = 12;

/// What the cells of a column are.
struct Cells {
  std::vector<double> values = {};  ///< numbers, and dates in seconds since 1970, by row
  std::int64_t numbers = 0, dates = 0, others = 0;
  bool are_plain = true;  ///< no number has what times have not: separators of thousands, a unit
  std::set<std::string, std::less<>> words = {};  ///< the first that are not alike
};

/// Reads the cells of a column, and what of them is said in messages.
Cells read_cells(const NamedTable& table, const NumberStyle& style, RecordingColumn& column) {
  Cells cells;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.cell(row, column.index);
    if (is_missing(text)) {
      ++column.missing;
      continue;
    }
    if (cells.words.size() <= kMostWords) cells.words.emplace(text);
    const std::optional<double> number = style.read(text);
    if (number) {
      ++cells.numbers;
      cells.values.push_back(*number);
      cells.are_plain = cells.are_plain && NumberStyle{.decimal = style.decimal}.read(text);
    } else if (const std::optional<ReadTime> time = read_time(text)) {
      ++cells.dates;
      cells.values.push_back(seconds_of(time->time));
    } else if (cells.others++ == 0) {
      column.text = text;
      column.text_line = table.line(row);
    }
  }
  column.has_numbers = cells.numbers > 0;
  return cells;
}

/// Whether numbers count from row to row, in whatever order: nine in ten are the same distance apart.
bool counts_evenly(std::vector<double> numbers) {
  constexpr std::size_t kFewest = 10;
  constexpr double kTolerance = 5e-3;  // decimals are rounded, as in 1990.0833 of a month
  std::ranges::sort(numbers);
  if (numbers.size() <= kFewest || numbers.back() > kLatestTime || numbers.front() < -kLatestTime)
    return false;
  std::vector<double> distances;
  for (std::size_t i = 1; i < numbers.size(); ++i) distances.push_back(numbers[i] - numbers[i - 1]);
  std::ranges::sort(distances);
  const double usual = distances[distances.size() / 2];
  const auto is_usual = [&](double x) { return std::abs(x - usual) <= kTolerance * usual; };
  return distances.front() > 0 &&
         10 * std::ranges::count_if(distances, is_usual) >= 9 * std::ssize(distances);
}

/// Whether numbers count the rows.
bool counts_rows(const std::vector<double>& numbers) {
  constexpr std::size_t kFewest = 10;
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] != numbers[i - 1] + 1 || numbers[i] != std::floor(numbers[i])) return false;
  return numbers.size() >= kFewest;
}

Kind kind_of(const Cells& cells, std::int64_t rows) {
  if (cells.words.size() < 2) return Kind::constant;
  const bool are_numbers = cells.numbers == rows && cells.are_plain;
  if (cells.numbers > 0 && cells.dates + cells.others == 0)
    return are_numbers && counts_rows(cells.values) ? Kind::counter : Kind::numbers;
  if (cells.words.size() <= kMostWords && cells.numbers + cells.dates == 0) return Kind::words;
  return Kind::other;
}

std::vector<double> seconds_of_all(const std::vector<Instant>& times) {
  std::vector<double> seconds;
  for (const Instant time : times) seconds.push_back(seconds_of(time));
  return seconds;
}

/// Finds interval and gaps, as a training takes them.
void describe_times(std::vector<double> times, RecordingColumns& found) {
  std::ranges::sort(times);
  std::vector<double> differences;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (times[i] > times[i - 1]) differences.push_back(times[i] - times[i - 1]);
  if (differences.empty()) return;
  const auto middle = differences.begin() + std::ssize(differences) / 2;
  std::ranges::nth_element(differences, middle);
  found.interval = *middle;
  found.has_gaps = false;
  for (std::size_t i = 1; i < times.size(); ++i) {
    constexpr double kFriday = 5;  // 1970 began on a Thursday, the fourth day after a Sunday
    const double distance = times[i] - times[i - 1];
    const bool is_weekend = found.interval == kDay && distance == 3 * kDay &&
                            std::fmod(std::floor(times[i - 1] / kDay) + 4, 7) == kFriday;
    found.has_gaps = found.has_gaps || (distance > 1.5 * found.interval && !is_weekend);
  }
}

/// The table, and the decimal point of its numbers. Where commas divide no table, they may be the decimal points of a
/// single column.
NamedTable read_with_decimals(const std::filesystem::path& file, RecordingColumns& found) {
  TableOptions& options = found.options;
  const auto read = [&](char decimal) {
    options.decimal = decimal;
    return read_table_file(file, options);
  };
  try {
    NamedTable table = read('.');
    const DecimalVotes votes = count_decimals(table);
    const bool has_commas = votes.commas + votes.either_comma > 0;
    if (votes.points == 0 && !has_commas && votes.either_point > 0 && table.separator() == ';')
      found.notes.emplace_back(
          "Points are read as decimal points. With \"decimal\": \",\" they would be separators of "
          "thousands.");
    if (votes.points > 0 || !has_commas) return table;
    if (votes.commas > 0 || table.separator() != ',') {
      if (votes.commas == 0)
        found.notes.emplace_back(
            "Commas are read as decimal points. With \"thousands\": \",\" they would be separators.");
      return read(',');
    }
    options.thousands = ',';
    found.notes.emplace_back(
        "Commas are read as separators of thousands. With \"decimal\": \",\" they would be decimal points.");
    return table;
  } catch (const InputError&) {
    try {
      return read(',');
    } catch (const InputError&) {
    }
    throw;
  }
}

/// Whether cells are names with a number, such as r12, and no numbers with a unit.
bool are_numbered(const NamedTable& table, std::int64_t column, const std::string& unit) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (const std::string_view cell = table.cell(row, column); !is_missing(cell))
      return cell.starts_with(unit) && !unit.empty() && is_letter(unit.back()) && cell.size() > unit.size() &&
             cell[unit.size()] != ' ';
  return false;
}

/// How the numbers of a column are written: with units where it has some.
NumberColumn numbers_of(const NamedTable& table, std::int64_t column, TableOptions& options) {
  TableOptions plain = options, with_units = options;
  plain.strip_units = false;
  NumberColumn numbers = read_number_column(table, column, plain);
  if (numbers.refused < 0) return numbers;
  with_units.strip_units = true;
  NumberColumn stripped = read_number_column(table, column, with_units);
  if (stripped.refused >= 0 || are_numbered(table, column, stripped.style.unit)) return numbers;
  options.strip_units = true;
  return stripped;
}

/// Whether a column has one of some names, in letters of any size.
bool is_called(std::string name, std::initializer_list<std::string_view> names) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(names, std::string_view(name)) != names.end();
}

/// Whether a column is called as hours of the day are.
bool is_called_hour(const std::string& name) {
  return is_called(name, {"hour", "hours", "hr", "hh", "stunde", "heure", "hora", "hour ending"});
}

/// Finds the times of day of a column of dates that come again.
void find_clock(const NamedTable& table, RecordingColumns& found) {
  const auto date = std::ranges::find(found.columns, Kind::time, &RecordingColumn::kind);
  for (RecordingColumn& column : found.columns) {
    if (column.kind == Kind::time || column.missing > 0) continue;
    const bool is_called_so =
        is_called_hour(column.name) || (is_time_name(column.name) && !column.has_numbers);
    const bool has_clock =
        !column.has_numbers && table.cell(0, column.index).find(':') != std::string_view::npos;
    if (!is_called_so && !has_clock) continue;
    const auto times = find_times(table, {date->index, column.index}, true);
    if (!times) continue;
    column.kind = Kind::clock;
    found.time.push_back(column.name);
    describe_times(seconds_of_all(times->times), found);
    return;
  }
}

/// Finds the columns of year, month, day and so on, which are a time together.
void find_parts(const NamedTable& table, RecordingColumns& found) {
  using Names = std::initializer_list<std::string_view>;
  constexpr std::size_t kFewest = 2;
  const Names parts[] = {{"year", "yr", "yyyy", "jahr"}, {"month", "monat"}, {"day", "tag"},
                         {"hour", "hr", "stunde"},       {"minute", "min"},  {"second", "sec"}};
  std::vector<RecordingColumn*> columns;
  for (const Names& names : parts) {
    const auto column = std::ranges::find_if(found.columns, [&](const RecordingColumn& one) {
      return one.missing == 0 && one.has_numbers && is_called(one.name, names);
    });
    if (column == found.columns.end()) break;
    columns.push_back(&*column);
  }
  if (columns.size() < kFewest) return;
  if (!found.time.empty() && found.time.front() != columns.front()->name) return;
  std::vector<std::int64_t> places;
  for (const RecordingColumn* column : columns) places.push_back(column->index);
  const auto times = find_times(table, places, true);
  if (!times) return;
  found.time.clear();
  found.time_format.clear();
  for (RecordingColumn* column : columns) {
    column->kind = column == columns.front() ? Kind::time : Kind::clock;
    found.time.push_back(column->name);
  }
  describe_times(seconds_of_all(times->times), found);
}

/// The format of the times at the beginning of a column; nothing where they are numbers, or have none that is known.
std::optional<TimeFormat> first_format(const NamedTable& table, std::int64_t column) {
  constexpr std::int64_t kRows = 50;
  TimeDetector detector;
  for (std::int64_t row = 0; row < std::min(table.rows(), kRows); ++row)
    detector.add(table.cell(row, column));
  if (!detector.is_possible() || detector.is_of_numbers()) return {};
  try {
    return detector.finish([&](std::int64_t row) { return table.place(row, column); }).format;
  } catch (const InputError&) {
    return {};
  }
}

/// Refuses a column that is the first one or is called as times are and has dates in all rows but few.
void refuse_broken_times(const NamedTable& table, const RecordingColumns& found) {
  for (const RecordingColumn& column : found.columns) {
    if ((!is_time_name(column.name) && column.index > 0) || column.kind == Kind::constant) continue;
    const std::optional<TimeFormat> format = first_format(table, column.index);
    std::int64_t dates = 0, other = -1;
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      const std::string_view cell = table.cell(row, column.index);
      if (read_time(cell) || (format && format->read(cell))) {
        ++dates;
      } else if (other < 0) {
        other = row;
      }
    }
    if (other < 0 || 10 * dates < 9 * table.rows()) continue;
    throw InputError(Problem{.place = table.place(other, column.index),
                             .rule = Rule::syntax,
                             .statement = "expected a date, as other rows of the column have",
                             .found = quote(table.cell(other, column.index), 40),
                             .hint = "Rows below the table, such as a total, are to be removed."});
  }
}

/// Finds the zone of local times of which some come twice, as clocks are set back.
void find_zone(const NamedTable& table, RecordingColumns& found) {
  if (found.time.empty() || !found.has_names) return;
  std::vector<std::int64_t> columns;
  for (const std::string& name : found.time) columns.push_back(table.column(name));
  const auto times = find_times(table, columns, true);
  if (!times || times->are_absolute) return;
  found.timezone = zone_of_clock(times->times);
  if (found.timezone.empty()) return;
  const auto place = [&](std::int64_t row) { return table.place(row, columns[0]); };
  describe_times(seconds_of_all(TimeZone::named(found.timezone).to_utc(times->times, place)), found);
  found.notes.push_back(text_of(come_again(times->times) ? "Times that come twice are the hour in autumn"
                                                         : "The hour that is missing in spring is that",
                                " by the clock of ", found.timezone,
                                ", or of another place whose clock is set at the same time."));
}

/// Looks for the codes again, as the number of a whole series is none.
void find_codes_of_series(const NamedTable& table, const FoundSeries& series, RecordingColumns& found) {
  found.codes.clear();
  for (const RecordingColumn& column : found.columns) {
    if (column.kind != Kind::numbers) continue;
    const NumberColumn numbers = numbers_of(table, column.index, found.options);
    if (numbers.refused < 0)
      add_missing_codes(without_constant_series(numbers.values.values<double>(), series.of),
                        table.name_of(column.index), found.codes);
  }
}

}  // namespace

std::vector<const RecordingColumn*> RecordingColumns::of_kind(RecordingColumn::Kind kind) const {
  std::vector<const RecordingColumn*> found;
  for (const RecordingColumn& column : columns)
    if (column.kind == kind) found.push_back(&column);
  return found;
}

std::int64_t RecordingColumns::season() const {
  if (interval <= 0) return 0;
  if (interval < kDay) return std::llround(kDay / interval);
  if (interval < 6 * kDay) return 7;
  return interval < 20 * kDay ? 52 : 12;
}

RecordingColumns describe_recording(const std::filesystem::path& file) {
  RecordingColumns found;
  const NamedTable table = read_with_decimals(file, found);
  found.rows = table.rows();
  found.has_names = !table.names().empty();
  for (const std::string& note : table.notes()) found.notes.push_back(sentence_of(note));
  bool has_dates = false, counts = false;
  for (std::int64_t i = 0; i < table.columns(); ++i) {
    RecordingColumn column{.name = found.has_names ? table.name_of(i) : "", .index = i};
    const NumberColumn numbers = numbers_of(table, i, found.options);
    const Cells cells = read_cells(table, numbers.style, column);
    column.kind = kind_of(cells, found.rows);
    const bool may_be_time = found.time.empty() && column.missing == 0 && column.kind != Kind::constant &&
                             (cells.numbers == 0 || cells.are_plain);
    const auto times = may_be_time ? find_times(table, {i}, is_time_name(column.name)) : std::nullopt;
    if (times) {
      column.kind = Kind::time;
      if (times->are_numbers) found.time_format = times->format;
      has_dates = times->are_dates;
      found.time = {column.name};
      if (times->are_absolute) found.timezone = zone_of_midnights(times->times);
      if (!found.timezone.empty())
        found.notes.push_back(
            text_of("The times are midnights of ", found.timezone, " in UTC: rows are its days."));
      describe_times(seconds_of_all(times->times), found);
    }
    if (column.kind == Kind::words) column.words.assign(cells.words.begin(), cells.words.end());
    if (column.kind == Kind::numbers && numbers.refused < 0)
      add_missing_codes(numbers.values.values<double>(), table.name_of(i), found.codes);
    if (i == 0 && cells.numbers == found.rows && cells.are_plain) counts = counts_evenly(cells.values);
    found.columns.push_back(std::move(column));
  }
  if (has_dates) find_clock(table, found);
  if (found.time.size() < 2 && found.has_names) find_parts(table, found);
  if (found.time.empty()) refuse_broken_times(table, found);
  TableCodes codes(table);
  FoundSeries series = find_series(codes, is_tsf_file(file), found.columns);
  if (!is_tsf_file(file)) found.sequences = find_sequences(codes, found);
  if (series.names.empty() && found.sequences.labels.empty())
    series = find_counted_series(codes, found.columns);
  if (!series.of.empty() && !found.codes.empty()) find_codes_of_series(table, series, found);
  if (series.names.empty() && found.timezone.empty()) find_zone(table, found);
  found.series = series.names;
  found.series_count = series.count;
  found.usual_rows = series.usual_rows;
  RecordingColumn& first = found.columns.front();
  const bool is_number = first.kind == Kind::numbers || first.kind == Kind::counter;
  if (found.time.empty() && found.series.empty() && counts && is_number && !first.name.empty()) {
    first.kind = Kind::time;
    found.time = {first.name};
    found.time_format = "seconds";
  }
  // A table whose columns all count has nothing else to learn.
  if (found.of_kind(Kind::numbers).empty())
    for (RecordingColumn& column : found.columns)
      if (column.kind == Kind::counter && (column.index > 0 || found.columns.size() == 1))
        column.kind = Kind::numbers;
  return found;
}

}  // namespace lagtape
