#include "lagtape/tools/new/series_columns.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lagtape/core/text.h"
#include "lagtape/data/table/number.h"
#include "lagtape/tools/new/column_names.h"
#include "lagtape/tools/new/recording_times.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

constexpr std::size_t kMostCandidates = 12;

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

/// Finds columns, one or two, that say which series a row is of, if each has every time once.
void find_dated_series(const NamedTable& table, const std::vector<RecordingColumn>& all, FoundSeries& found) {
  std::vector<std::int64_t> times;
  for (const RecordingColumn& column : all)
    if (column.kind == Kind::time || column.kind == Kind::clock) times.push_back(column.index);
  if (times.empty() || table.names().empty() || count_series(table, times, {}) > 0) return;
  std::vector<std::int64_t> candidates;
  for (const RecordingColumn& column : all)
    if (column.kind != Kind::time && column.kind != Kind::clock && !is_called_date(column.name) &&
        may_name_series(table, column, times))
      candidates.push_back(column.index);
  const auto take = [&](const std::vector<std::int64_t>& columns) {
    found.count = count_series(table, times, columns);
    if (2 * found.count > table.rows()) found.count = 0;
    if (found.count == 0) return false;
    for (const std::int64_t column : columns) found.names.push_back(table.name_of(column));
    return true;
  };
  for (const std::int64_t column : candidates)
    if (take({column})) return;
  for (std::size_t i = 0; i < candidates.size() && i < kMostCandidates; ++i)
    for (std::size_t j = i + 1; j < candidates.size() && j < kMostCandidates; ++j)
      if (take({candidates[i], candidates[j]})) return;
}

/// Finds the series of a .tsf file, which its first column names.
void take_lines_as_series(const NamedTable& table, FoundSeries& found) {
  std::unordered_set<std::string_view> names;
  for (std::int64_t row = 0; row < table.rows(); ++row) names.insert(table.cell(row, 0));
  found.names = {table.name_of(0)};
  found.count = std::ssize(names);
}

/// Finds how long the series are, and marks the columns that have one value in each.
void describe_series(const NamedTable& table, std::vector<RecordingColumn>& all, FoundSeries& found) {
  std::vector<std::int64_t> series;
  for (const RecordingColumn& column : all)
    if (std::ranges::find(found.names, column.name) != found.names.end()) series.push_back(column.index);
  std::unordered_map<std::string, std::int64_t> firsts;
  std::vector<std::int64_t> first_row;
  std::unordered_map<std::int64_t, std::int64_t> counts;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    first_row.push_back(firsts.try_emplace(key_of(table, row, series), row).first->second);
    if (!table.cell(row, series[0]).empty()) ++counts[first_row.back()];
  }
  std::vector<std::int64_t> lengths;
  for (const auto& [first, rows] : counts) lengths.push_back(rows);
  std::ranges::sort(lengths);
  found.usual_rows = lengths[lengths.size() / 4];
  found.count = std::ssize(lengths);
  for (RecordingColumn& column : all) {
    if ((column.kind != Kind::numbers && column.kind != Kind::words) || column.missing > 0) continue;
    if (std::ranges::find(series, column.index) != series.end()) continue;
    column.is_fixed = true;
    for (std::int64_t row = 0; row < table.rows() && column.is_fixed; ++row)
      column.is_fixed =
          table.cell(row, column.index) == table.cell(first_row[static_cast<std::size_t>(row)], column.index);
  }
  found.of = std::move(first_row);
}

/// Whether a column is called as those are that name series, with two rows a series or more.
bool is_called_series(const NamedTable& table, const RecordingColumn& column) {
  constexpr std::string_view kNames[] = {"unique_id", "series_id", "item_id", "ts_id",
                                         "id",        "series",    "station"};
  std::string name = column.name;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (std::ranges::find(kNames, name) == std::end(kNames)) return false;
  std::unordered_set<std::string_view> cells;
  for (std::int64_t row = 0; row < table.rows(); ++row) cells.insert(table.cell(row, column.index));
  return cells.size() > 1 && 2 * std::ssize(cells) <= table.rows();
}

/// Whether the rows of each value of a column lie one below the other.
bool are_blocks(const NamedTable& table, std::int64_t column) {
  std::unordered_set<std::string_view> cells;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (row == 0 || table.cell(row, column) != table.cell(row - 1, column))
      if (!cells.insert(table.cell(row, column)).second) return false;
  return true;
}

/// Whether times go back where a series begins, and nowhere else.
bool begins_before(const NamedTable& table, const std::vector<std::int64_t>& times_in, std::int64_t series) {
  const auto found = find_times(table, times_in, true);
  bool goes_back = false;
  for (std::int64_t row = 1; found && row < table.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    if (found->times[at] > found->times[at - 1]) continue;
    if (table.cell(row, series) == table.cell(row - 1, series)) return false;
    goes_back = true;
  }
  return goes_back;
}

/// Finds the series of a table in which each time comes once, or one of a series twice: a column that is called so, or
/// whose series lie one below the other, each from earlier times on.
void find_other_series(const NamedTable& table, const std::vector<RecordingColumn>& all, FoundSeries& found) {
  std::vector<std::int64_t> times;
  for (const RecordingColumn& column : all)
    if (column.kind == Kind::time || column.kind == Kind::clock) times.push_back(column.index);
  if (times.empty() || table.names().empty()) return;
  const bool come_again = count_series(table, times, {}) == 0;
  const auto is_sure = [](const RecordingColumn& column) {
    return column.name == "unique_id" || column.name == "series_id";
  };
  for (const RecordingColumn& column : all) {
    const bool is_of_time =
        column.kind == Kind::time || column.kind == Kind::clock || is_called_date(column.name);
    if (is_of_time || !(is_called_series(table, column) || may_name_series(table, column, times))) continue;
    const bool is_in_blocks = are_blocks(table, column.index);
    if (is_called_series(table, column) ? !is_in_blocks && !come_again && !is_sure(column)
                                        : !is_in_blocks || !begins_before(table, times, column.index))
      continue;
    found.names = {column.name};
    return;
  }
}

}  // namespace

FoundSeries find_series(const NamedTable& table, bool has_lines, std::vector<RecordingColumn>& all) {
  FoundSeries found;
  if (has_lines) {
    take_lines_as_series(table, found);
  } else {
    find_dated_series(table, all, found);
    if (found.names.empty()) find_other_series(table, all, found);
  }
  if (!found.names.empty()) describe_series(table, all, found);
  return found;
}

FoundSeries find_counted_series(const NamedTable& table, std::vector<RecordingColumn>& all) {
  FoundSeries found;
  const bool has_times = std::ranges::find(all, Kind::time, &RecordingColumn::kind) != all.end();
  if (has_times || table.names().empty()) return found;
  for (const RecordingColumn& column : all) {
    if ((column.kind != Kind::words && column.kind != Kind::other && column.kind != Kind::numbers) ||
        !may_name_series(table, column, {}))
      continue;
    for (RecordingColumn& counter : all) {
      if (&counter == &column || counter.kind != Kind::numbers || !counts_in(table, counter, column.index))
        continue;
      counter.kind = Kind::counter;
      found.names = {column.name};
      for (std::int64_t row = 0; row < table.rows(); ++row)
        found.count += row == 0 || table.cell(row, column.index) != table.cell(row - 1, column.index) ? 1 : 0;
      describe_series(table, all, found);
      return found;
    }
  }
  for (const RecordingColumn& column : all) {
    if (!is_called_series(table, column) || !are_blocks(table, column.index)) continue;
    found.names = {column.name};
    describe_series(table, all, found);
    return found;
  }
  return found;
}

}  // namespace lagtape
