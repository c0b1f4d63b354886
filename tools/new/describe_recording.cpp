#include "lagtape/tools/new/describe_recording.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/formats/table_file.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/table/number_column.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/data/time/time_names.h"
#include "lagtape/data/time/time_zone.h"
#include "lagtape/tools/new/draft.h"
#include "lagtape/tools/new/recording_times.h"
#include "lagtape/tools/new/series_columns.h"
#include "lagtape/tools/new/time_columns.h"
#include "lagtape/tools/new/wide_table.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

constexpr std::size_t kMostWords = 12;

/// The kind of a column's cells.
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

/// Whether a text has the form of a date, of whatever order: 01.02.20.
bool is_like_date(const std::string& word) {
  return word.find_first_not_of("0123456789./-") == word.npos &&
         std::ranges::count_if(word, [](char c) { return c == '.' || c == '/' || c == '-'; }) == 2;
}

/// Whether cells are words of which some are whole numbers: 0, a and b.
bool are_codes(const Cells& cells, std::int64_t rows) {
  const auto numbers = std::ranges::count_if(
      cells.words, [](const std::string& word) { return parse_number(word).has_value(); });
  const std::int64_t words = std::ssize(cells.words);
  return cells.dates == 0 && cells.are_plain && 2 * numbers <= words && 8 * words <= rows &&
         std::ranges::all_of(cells.values, [](double x) { return x == std::floor(x); });
}

Kind kind_of(const Cells& cells, std::int64_t rows) {
  // A flag is one word, or nothing.
  constexpr std::int64_t kRareFlag = 100;
  const bool has_numbers = cells.numbers + cells.dates > 0;
  if (cells.words.size() == 1 && !has_numbers && cells.others < rows && kRareFlag * cells.others >= rows)
    return Kind::words;
  if (cells.words.size() < 2) return Kind::constant;
  const bool are_numbers = cells.numbers == rows && cells.are_plain;
  if (cells.numbers > 0 && cells.dates + cells.others == 0)
    return are_numbers && counts_rows(cells.values) ? Kind::counter : Kind::numbers;
  const bool are_words = !has_numbers || are_codes(cells, rows);
  if (cells.words.size() <= kMostWords && are_words && !std::ranges::all_of(cells.words, is_like_date))
    return Kind::words;
  return Kind::other;
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
      NamedTable table = read(',');
      if (table.columns() > 1 || count_decimals(table).commas > 0) return table;
    } catch (const InputError&) {
    }
    throw;
  }
}

/// Whether cells are names with a number, such as r12, store_0 and "store 3", and no numbers with a unit.
bool are_numbered(const NamedTable& table, std::int64_t column, const std::string& unit) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (unit.find('_') != unit.npos) return true;
  constexpr std::string_view kDigits = "0123456789";
  std::set<std::string_view> names;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = table.cell(row, column);
    if (is_missing(cell)) continue;
    if (!cell.starts_with(unit) || unit.empty() || cell.size() == unit.size()) return false;
    if (cell[unit.size()] != ' ') return is_letter(unit.back()) || unit.ends_with('-') || unit.ends_with('#');
    // Words with few whole numbers, each of which comes again.
    const std::string_view number = cell.substr(unit.size() + 1);
    if (!is_letter(unit.back()) || number.find_first_not_of(kDigits) != number.npos) return false;
    names.insert(number);
  }
  return 2 * std::ssize(names) <= table.rows();
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

/// Finds numbers that mean missing ones, by series where the table has several.
void find_codes(const NamedTable& table, const FoundSeries& series, RecordingColumns& found) {
  std::vector<Tensor> values;
  std::vector<NamedNumbers> columns;
  for (const RecordingColumn& column : found.columns) {
    if (column.kind != Kind::numbers) continue;
    NumberColumn numbers = numbers_of(table, column.index, found.options);
    if (numbers.refused >= 0) continue;
    values.push_back(std::move(numbers.values));
    columns.push_back({table.name_of(column.index), std::as_const(values.back()).values<double>()});
  }
  found.codes = find_missing_codes(columns, series.of);
}

/// Takes a column as the time, if it has times. Whether these are dates alone.
bool take_times(const NamedTable& table, RecordingColumn& column, RecordingColumns& found) {
  const auto times = find_times(table, {column.index}, is_time_name(column.name));
  if (!times) return false;
  column.kind = Kind::time;
  if (times->are_numbers) found.time_format = times->format;
  note_count(table, column, *times, found);
  found.time = {column.name};
  find_own_zone(*times, found);
  describe_times(times->times, found);
  return times->are_dates;
}

void take_series(const NamedTable& table, const FoundSeries& series, RecordingColumns& found) {
  found.series = series.names;
  found.series_count = series.count;
  found.usual_rows = series.usual_rows;
  if (!series.time.empty()) {
    found.time = {series.time};
    found.time_format = "seconds";
    found.notes.push_back(
        text_of("The column ", series.time, " counts the rows of each series: taken as times in seconds."));
  }
  if (!series.names.empty()) find_frequency(table, found);
}

}  // namespace

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
    if (may_be_time) has_dates = take_times(table, column, found);
    if (column.kind == Kind::words) column.words.assign(cells.words.begin(), cells.words.end());
    if (i == 0 && cells.numbers == found.rows && cells.are_plain) counts = counts_evenly(cells.values);
    found.columns.push_back(std::move(column));
  }
  found.has_names ? find_parts(table, found) : find_unnamed_parts(table, found);
  if (found.time.empty() ? found.has_names : has_dates && found.time.size() == 1) find_clock(table, found);
  find_decimal_years(table, found);
  refuse_wide_table(table, found);
  if (found.time.empty()) refuse_broken_times(table, found);
  TableCodes codes(table, found.options.decimal);
  FoundSeries series = find_series(codes, is_tsf_file(file), found.columns);
  if (!is_tsf_file(file)) found.sequences = find_sequences(codes, found);
  if (series.names.empty() && found.sequences.labels.empty())
    series = find_counted_series(codes, found.columns);
  find_codes(table, series, found);
  if (found.timezone.empty()) find_zone(table, series, found);
  take_series(table, series, found);
  RecordingColumn& first = found.columns.front();
  const bool is_number = first.kind == Kind::numbers || first.kind == Kind::counter;
  if (found.time.empty() && found.series.empty() && counts && is_number && !first.name.empty())
    take_count(table, found);
  // A table whose columns all count has nothing else to learn.
  if (found.of_kind(Kind::numbers).empty())
    for (RecordingColumn& column : found.columns)
      if (column.kind == Kind::counter && (column.index > 0 || found.columns.size() == 1))
        column.kind = Kind::numbers;
  return found;
}

}  // namespace lagtape
