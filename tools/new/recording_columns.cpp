#include "lagtape/tools/new/recording_columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/text_table.h"
#include "lagtape/data/series/fill.h"
#include "lagtape/data/series/time_stamp.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

constexpr double kDay = 86400;

bool is_number(std::string_view cell, char decimal) {
  std::string text(cell);
  if (text.starts_with('+')) text.erase(0, 1);
  if (decimal == ',') std::ranges::replace(text, ',', '.');
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

bool is_date(std::string_view cell) { return !is_number(cell, '.') && parse_time(cell).has_value(); }

/// Describes the columns of a table, from its row `first` on.
class Describer {
 public:
  Describer(const TextTable& table, const std::string& where) : table_(table) {
    const auto names = std::span(table.cells).first(static_cast<std::size_t>(table.columns));
    const bool has_names = std::ranges::none_of(
        names, [](auto cell) { return is_number(cell, '.') || is_number(cell, ',') || is_date(cell); });
    first_ = has_names ? 1 : 0;
    found_.rows = table.rows() - first_;
    if (found_.rows < 1) throw InputError(text_of(where, ": contains names and no numbers."));
    found_.decimal_comma = table.separator != ',' && has_decimal_commas();
    for (std::int64_t i = 0; i < table.columns; ++i) {
      RecordingColumn column{.name = has_names ? std::string(names[static_cast<std::size_t>(i)]) : "",
                             .index = i};
      check_utf8(column.name, table.lines.front(), where);
      describe(column);
      for (const std::string& word : column.words) check_utf8(word, column.text_line, where);
      found_.columns.push_back(std::move(column));
    }
    RecordingColumn& first = found_.columns.front();
    if (!has_time_ && first.kind == Kind::numbers && !first.name.empty() && counts_evenly(first.index))
      first.kind = Kind::time;
  }
  RecordingColumns take() { return std::move(found_); }

 private:
  static void check_utf8(const std::string& text, std::int64_t line, const std::string& where) {
    if (!is_utf8(text))
      throw InputError(
          text_of(where, ": line ", line, ": ", quote(text), " is not UTF-8. Save the file as UTF-8."));
  }

  std::string_view cell(std::int64_t row, std::int64_t column) const {
    return table_.cell(row + first_, column);
  }

  bool has_decimal_commas() const {
    for (const std::string_view cell : table_.cells)
      if (cell.find(',') != cell.npos && is_number(cell, ',')) return true;
    return false;
  }

  void describe(RecordingColumn& column) {
    constexpr std::size_t kMostWords = 12;
    std::set<std::string, std::less<>> words;
    std::int64_t numbers = 0, dates = 0, others = 0;
    for (std::int64_t row = 0; row < found_.rows; ++row) {
      const std::string_view text = cell(row, column.index);
      if (is_missing(text)) {
        ++column.missing;
        continue;
      }
      if (words.size() <= kMostWords) words.emplace(text);
      if (is_number(text, found_.decimal_comma ? ',' : '.')) {
        ++numbers;
      } else if (is_date(text)) {
        ++dates;
      } else if (others++ == 0) {
        column.text = text;
        column.text_line = table_.lines[static_cast<std::size_t>(row + first_)];
      }
    }
    column.has_numbers = numbers > 0;
    if (words.size() < 2) {
      column.kind = Kind::constant;
    } else if (dates + numbers > 0 && others == 0 && numbers == 0 && column.missing == 0 && !has_time_) {
      column.kind = Kind::time;
      describe_times(column.index);
    } else if (numbers == found_.rows && !has_time_ && is_clock(column.index)) {
      column.kind = Kind::time;
      describe_times(column.index);
    } else if (numbers == found_.rows && column.index == 0 && counts_milliseconds(column.index)) {
      column.kind = Kind::milliseconds;
    } else if (numbers > 0 && dates + others == 0) {
      column.kind = Kind::numbers;
    } else if (words.size() <= kMostWords && numbers + dates == 0) {
      column.kind = Kind::words;
      column.words.assign(words.begin(), words.end());
    }
  }

  /// Whether numbers are seconds since 1970: of this time, no two alike, and most of them the same interval apart.
  bool is_clock(std::int64_t column) const { return counts_time(column, 1); }
  bool counts_milliseconds(std::int64_t column) const { return counts_time(column, 1000); }

  bool counts_time(std::int64_t column, double per_second) const {
    constexpr double kEarliest = 3e8, kLatest = 4.2e9;  // the years 1979 and 2103
    constexpr std::int64_t kFewest = 10;
    std::vector<double> times;
    for (std::int64_t row = 0; row < found_.rows; ++row) {
      std::optional<double> time = parse_time(cell(row, column));
      if (time) *time /= per_second;
      if (!time || *time < kEarliest || *time > kLatest) return false;
      times.push_back(*time);
    }
    std::ranges::sort(times);
    std::map<double, std::int64_t> differences;
    for (std::size_t i = 1; i < times.size(); ++i) ++differences[times[i] - times[i - 1]];
    std::int64_t most = 0;
    for (const auto& [difference, count] : differences) most = std::max(most, count);
    return found_.rows >= kFewest && !differences.contains(0) && 2 * most > found_.rows;
  }

  /// Whether numbers count from row to row, in whatever order: nine in ten are the same distance apart.
  bool counts_evenly(std::int64_t column) const {
    constexpr std::size_t kFewest = 10;
    constexpr double kTolerance = 1e-6;  // the distances of decimals are rounded
    std::vector<double> numbers;
    for (std::int64_t row = 0; row < found_.rows; ++row) {
      const std::optional<double> number = parse_time(cell(row, column));
      if (!number || std::abs(*number) > kLatestTime) return false;
      numbers.push_back(*number);
    }
    std::ranges::sort(numbers);
    std::vector<double> distances;
    for (std::size_t i = 1; i < numbers.size(); ++i) distances.push_back(numbers[i] - numbers[i - 1]);
    if (distances.size() < kFewest) return false;
    std::ranges::sort(distances);
    const double usual = distances[distances.size() / 2];
    const auto is_usual = [&](double x) { return std::abs(x - usual) <= kTolerance * usual; };
    return distances.front() > 0 &&
           10 * std::ranges::count_if(distances, is_usual) >= 9 * std::ssize(distances);
  }

  void describe_times(std::int64_t column) {
    has_time_ = true;
    std::vector<double> times;
    for (std::int64_t row = 0; row < found_.rows; ++row) times.push_back(*parse_time(cell(row, column)));
    std::ranges::sort(times);
    std::vector<double> differences;
    for (std::size_t i = 1; i < times.size(); ++i)
      if (times[i] > times[i - 1]) differences.push_back(times[i] - times[i - 1]);
    if (differences.empty()) return;
    const auto middle = differences.begin() + std::ssize(differences) / 2;
    std::ranges::nth_element(differences, middle);
    found_.interval = *middle;  // as a training takes it
    found_.has_gaps = std::ranges::max(differences) > 1.5 * found_.interval;
  }

  const TextTable& table_;
  std::int64_t first_ = 0;
  bool has_time_ = false;  ///< a column of times was found
  RecordingColumns found_;
};

/// The cells of a file. Where commas divide no table, they may be the decimal points of a single column.
TextTable table_of(const std::filesystem::path& file) {
  const std::string text = read_file(file), where = file.string();
  try {
    return parse_text_table(text, where);
  } catch (const InputError&) {
    try {
      return parse_text_table(text, where, 0, ',');
    } catch (const InputError&) {
    }
    throw;
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
  return Describer(table_of(file), file.string()).take();
}

}  // namespace lagtape
