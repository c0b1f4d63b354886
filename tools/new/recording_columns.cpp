#include "lagtape/tools/new/recording_columns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/named_table.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

constexpr double kDay = 86400;
constexpr std::size_t kMostWords = 12;

/// What the cells of a column are.
struct Cells {
  std::vector<double> values = {};  ///< of the numbers, and of the dates in seconds since 1970, by row
  std::int64_t numbers = 0, dates = 0, others = 0;
  bool has_commas = false;                        ///< some numbers have decimal commas, which times have not
  std::set<std::string, std::less<>> words = {};  ///< the first that are not alike
};

/// Reads the cells of a column, and what of them is said in messages.
Cells read_cells(const NamedTable& table, char decimal, RecordingColumn& column) {
  Cells cells;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.cell(row, column.index);
    if (is_missing(text)) {
      ++column.missing;
      continue;
    }
    if (cells.words.size() <= kMostWords) cells.words.emplace(text);
    const std::optional<double> number = parse_number(text, decimal);
    if (number && std::isfinite(*number)) {
      ++cells.numbers;
      cells.values.push_back(*number);
      cells.has_commas = cells.has_commas || text.find(',') != text.npos;
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

/// Whether numbers are seconds since 1970, or parts of them: of this time, no two alike, and most of them the same
/// interval apart.
bool counts_time(std::vector<double> times, double per_second) {
  constexpr double kEarliest = 3e8, kLatest = 4.2e9;  // the years 1979 and 2103
  constexpr std::size_t kFewest = 10;
  for (double& time : times) {
    time /= per_second;
    if (time < kEarliest || time > kLatest) return false;
  }
  std::ranges::sort(times);
  std::map<double, std::size_t> differences;
  for (std::size_t i = 1; i < times.size(); ++i) ++differences[times[i] - times[i - 1]];
  std::size_t most = 0;
  for (const auto& [difference, count] : differences) most = std::max(most, count);
  return times.size() >= kFewest && !differences.contains(0) && 2 * most > times.size();
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

Kind kind_of(const Cells& cells, const RecordingColumn& column, std::int64_t rows, bool has_time) {
  const bool are_numbers = cells.numbers == rows && !cells.has_commas;
  if (cells.words.size() < 2) return Kind::constant;
  if (cells.dates == rows && !has_time) return Kind::time;
  if (are_numbers && !has_time && counts_time(cells.values, 1)) return Kind::time;
  if (are_numbers && column.index == 0 && counts_time(cells.values, 1000)) return Kind::milliseconds;
  if (cells.numbers > 0 && cells.dates + cells.others == 0) return Kind::numbers;
  if (cells.words.size() <= kMostWords && cells.numbers + cells.dates == 0) return Kind::words;
  return Kind::other;
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

void check_utf8(const std::string& text, std::int64_t line, const std::string& where) {
  if (!is_utf8(text))
    throw InputError({where, line}, Rule::wrong_type,
                     text_of(quote(text), " is not UTF-8. Save the file as UTF-8."));
}

/// The cells of a file. Where commas divide no table, they may be the decimal points of a single column.
TextTable cells_of(const std::filesystem::path& file) {
  const std::string text = read_file(file), where = file.string();
  try {
    return {text, where};
  } catch (const InputError&) {
    try {
      return {text, where, 0, ','};
    } catch (const InputError&) {
    }
    throw;
  }
}

bool has_decimal_commas(const NamedTable& table) {
  if (table.separator() == ',') return false;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    for (std::int64_t i = 0; i < table.columns(); ++i)
      if (const std::string_view cell = table.cell(row, i);
          cell.find(',') != cell.npos && parse_number(cell, ','))
        return true;
  return false;
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
  const NamedTable table(cells_of(file), file.string(), ".,");
  RecordingColumns found{.rows = table.rows(), .decimal_comma = has_decimal_commas(table)};
  bool has_time = false, counts = false;
  for (std::int64_t i = 0; i < table.columns(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    RecordingColumn column{.name = table.names().empty() ? "" : table.names()[place], .index = i};
    if (!column.name.empty()) check_utf8(column.name, table.line(-1), table.where());  // before the first row
    const Cells cells = read_cells(table, found.decimal_comma ? ',' : '.', column);
    column.kind = kind_of(cells, column, found.rows, has_time);
    if (column.kind == Kind::time) {
      has_time = true;
      describe_times(cells.values, found);
    }
    if (column.kind == Kind::words) column.words.assign(cells.words.begin(), cells.words.end());
    if (i == 0 && cells.numbers == found.rows && !cells.has_commas) counts = counts_evenly(cells.values);
    for (const std::string& word : column.words) check_utf8(word, column.text_line, table.where());
    found.columns.push_back(std::move(column));
  }
  RecordingColumn& first = found.columns.front();
  if (!has_time && counts && first.kind == Kind::numbers && !first.name.empty()) first.kind = Kind::time;
  return found;
}

}  // namespace lagtape
