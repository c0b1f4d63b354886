#include "lagtape/tools/new/recording_columns.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/table/number_column.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/tools/new/draft.h"
#include "lagtape/tools/new/recording_times.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

constexpr double kDay = 86400;
constexpr std::size_t kMostWords = 12;

/// What the cells of a column are.
struct Cells {
  std::vector<double> values = {};  ///< numbers, and dates in seconds since 1970, by row
  std::int64_t numbers = 0, dates = 0, others = 0;
  bool are_plain =
      true;  ///< no number has what times have not: a decimal comma, separators of thousands, a unit
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
      cells.are_plain = cells.are_plain && parse_number(text);
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
  constexpr double kTolerance = 1e-6;  // the distances of decimals are rounded
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

/// Whether a column is called as times are.
bool is_called_time(std::string name) {
  constexpr std::string_view kNames[] = {"time", "date",  "datetime", "timestamp", "ds",
                                         "year", "month", "day",      "period"};
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(kNames, name) != std::end(kNames);
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
  found.has_gaps = std::ranges::max(differences) > 1.5 * found.interval;
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

/// Finds the times of day of a column of dates that come again.
void find_clock(const NamedTable& table, RecordingColumns& found) {
  const auto date = std::ranges::find(found.columns, Kind::time, &RecordingColumn::kind);
  for (RecordingColumn& column : found.columns) {
    if (column.kind == Kind::time || column.missing > 0 || column.has_numbers) continue;
    if (table.cell(0, column.index).find(':') == std::string_view::npos) continue;
    const auto times = find_times(table, {date->index, column.index}, true);
    if (!times) continue;
    column.kind = Kind::clock;
    found.time.push_back(column.name);
    describe_times(seconds_of_all(times->times), found);
    return;
  }
}

// ---- several series in one table ----

/// The cells of a row in some columns, as one text.
std::string key_of(const NamedTable& table, std::int64_t row, const std::vector<std::int64_t>& columns) {
  std::string key;
  for (const std::int64_t column : columns) key += text_of(table.cell(row, column), '\n');
  return key;
}

/// The number of series if every time occurs once in each, else 0.
std::int64_t count_series(const NamedTable& table, const std::vector<std::int64_t>& times,
                          const std::vector<std::int64_t>& columns) {
  std::unordered_set<std::string> series, rows;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string key = key_of(table, row, columns);
    series.insert(key);
    if (!rows.insert(key + key_of(table, row, times)).second) return 0;
  }
  return std::ssize(series);
}

/// Whether a column may say which series a row is of: words, or whole numbers that are too orderly for measurements,
/// as their rows lie one below the other or every series has every time.
bool may_name_series(const NamedTable& table, const RecordingColumn& column,
                     const std::vector<std::int64_t>& times_in) {
  if (column.kind == Kind::constant || column.missing > 0) return false;
  std::unordered_set<std::string_view> cells;
  std::unordered_set<std::string> times;
  std::int64_t blocks = 0;
  bool are_codes = true;
  std::string_view before;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = table.cell(row, column.index);
    cells.insert(cell);
    times.insert(key_of(table, row, times_in));
    are_codes = are_codes && cell.find_first_not_of("0123456789") == cell.npos;
    blocks += row == 0 || cell != before ? 1 : 0;
    before = cell;
  }
  const std::int64_t series = std::ssize(cells), rows = table.rows();
  if (series < 2 || 2 * series > rows) return false;
  return column.kind != Kind::numbers ||
         (are_codes && (blocks == series || rows % (series * std::ssize(times)) == 0));
}

/// Whether the numbers of a column count the rows of each series, which lie one below the other, from whatever number on.
bool counts_in(const NamedTable& table, const RecordingColumn& counter, std::int64_t series) {
  std::int64_t starts = 0;
  std::optional<double> before;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::optional<double> number = parse_number(table.cell(row, counter.index));
    if (!number) return false;
    const bool goes_on = row > 0 && table.cell(row, series) == table.cell(row - 1, series);
    if (goes_on && *number != *before + 1) return false;
    starts += goes_on ? 0 : 1;
    before = number;
  }
  return starts > 1 && 2 * starts <= table.rows();
}

/// Finds a column of words and one that counts the rows of each of them, in a table without times.
void find_counted_series(const NamedTable& table, RecordingColumns& found) {
  if (!found.time.empty() || !found.has_names) return;
  for (const RecordingColumn& column : found.columns) {
    if ((column.kind != Kind::words && column.kind != Kind::other && column.kind != Kind::numbers) ||
        !may_name_series(table, column, {}))
      continue;
    for (RecordingColumn& counter : found.columns) {
      if (&counter == &column || counter.kind != Kind::numbers || !counts_in(table, counter, column.index))
        continue;
      counter.kind = Kind::counter;
      found.series = {column.name};
      found.series_count = 0;
      for (std::int64_t row = 0; row < table.rows(); ++row)
        found.series_count +=
            row == 0 || table.cell(row, column.index) != table.cell(row - 1, column.index) ? 1 : 0;
      return;
    }
  }
}

/// Finds columns, one or two, that say which series a row is of.
void find_series(const NamedTable& table, RecordingColumns& found) {
  std::vector<std::int64_t> times;
  for (const RecordingColumn& column : found.columns)
    if (column.kind == Kind::time || column.kind == Kind::clock) times.push_back(column.index);
  if (times.empty() || !found.has_names || count_series(table, times, {}) > 0) return;
  std::vector<std::int64_t> candidates;
  for (const RecordingColumn& column : found.columns)
    if (column.kind != Kind::time && column.kind != Kind::clock && may_name_series(table, column, times))
      candidates.push_back(column.index);
  const auto take = [&](const std::vector<std::int64_t>& columns) {
    found.series_count = count_series(table, times, columns);
    if (2 * found.series_count > table.rows()) found.series_count = 0;
    if (found.series_count == 0) return false;
    for (const std::int64_t column : columns) found.series.push_back(table.name_of(column));
    return true;
  };
  for (const std::int64_t column : candidates)
    if (take({column})) return;
  for (std::size_t i = 0; i < candidates.size() && i < kMostWords; ++i)
    for (std::size_t j = i + 1; j < candidates.size() && j < kMostWords; ++j)
      if (take({candidates[i], candidates[j]})) return;
}

/// Finds the series of a .tsf file, which its first column names.
void take_lines_as_series(const NamedTable& table, RecordingColumns& found) {
  std::unordered_set<std::string_view> names;
  for (std::int64_t row = 0; row < table.rows(); ++row) names.insert(table.cell(row, 0));
  found.series = {table.name_of(0)};
  found.series_count = std::ssize(names);
}

/// Finds how long the series are, and marks the columns that have one value in each.
void describe_series(const NamedTable& table, RecordingColumns& found) {
  std::vector<std::int64_t> series;
  for (const RecordingColumn& column : found.columns)
    if (std::ranges::find(found.series, column.name) != found.series.end()) series.push_back(column.index);
  std::unordered_map<std::string, std::int64_t> firsts;
  std::vector<std::int64_t> first_row;
  std::unordered_map<std::int64_t, std::int64_t> counts;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    first_row.push_back(firsts.try_emplace(key_of(table, row, series), row).first->second);
    ++counts[first_row.back()];
  }
  std::vector<std::int64_t> lengths;
  for (const auto& [first, rows] : counts) lengths.push_back(rows);
  std::ranges::sort(lengths);
  found.usual_rows = lengths[lengths.size() / 4];
  for (RecordingColumn& column : found.columns) {
    if ((column.kind != Kind::numbers && column.kind != Kind::words) || column.missing > 0) continue;
    if (std::ranges::find(series, column.index) != series.end()) continue;
    column.is_fixed = true;
    for (std::int64_t row = 0; row < table.rows() && column.is_fixed; ++row)
      column.is_fixed =
          table.cell(row, column.index) == table.cell(first_row[static_cast<std::size_t>(row)], column.index);
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
    const auto times = may_be_time ? find_times(table, {i}, is_called_time(column.name)) : std::nullopt;
    if (times) {
      column.kind = Kind::time;
      if (times->are_numbers) found.time_format = times->format;
      has_dates = times->are_dates;
      found.time = {column.name};
      describe_times(seconds_of_all(times->times), found);
    }
    if (column.kind == Kind::words) column.words.assign(cells.words.begin(), cells.words.end());
    if (column.kind == Kind::numbers && numbers.refused < 0)
      add_missing_codes(numbers.values.values<double>(), table.name_of(i), found.codes);
    if (i == 0 && cells.numbers == found.rows && cells.are_plain) counts = counts_evenly(cells.values);
    found.columns.push_back(std::move(column));
  }
  if (has_dates) find_clock(table, found);
  if (is_tsf_file(file)) {
    take_lines_as_series(table, found);
  } else {
    find_series(table, found);
    found.sequences = find_sequences(table, found);
    if (found.series.empty() && found.sequences.labels.empty()) find_counted_series(table, found);
  }
  if (!found.series.empty()) describe_series(table, found);
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
