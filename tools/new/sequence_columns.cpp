#include "lagtape/tools/new/sequence_columns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "lagtape/data/table/named_table.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/tools/new/column_names.h"
#include "lagtape/tools/new/recording_columns.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

constexpr std::size_t kMostWordClasses = 64, kMostNumberClasses = 20;

bool is_called_label(const std::string& name) {
  return has_word(name, {"label", "labels", "class", "target", "y", "activity", "verdict", "outcome",
                         "diagnosis", "gesture"});
}

bool is_whole(std::string_view cell) {
  if (cell.starts_with('-')) cell.remove_prefix(1);
  return !cell.empty() && cell.find_first_not_of("0123456789") == cell.npos;
}

/// The rows of each sequence by columns that may name sequences.
struct Groups {
  std::vector<std::int64_t> of = {};  ///< by row, the sequence
  std::int64_t count = 0, blocks = 0;
};

/// Whether all cells of a column are words or whole numbers, and no dates, which come again.
bool may_name(const NamedTable& table, const RecordingColumn& column) {
  if (column.kind == Kind::constant || column.kind == Kind::counter || column.missing > 0) return false;
  if (is_called_date(column.name) || is_called_label(column.name)) return false;
  std::unordered_set<std::string_view> known;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = table.cell(row, column.index);
    if (row > 0 && cell == table.cell(row - 1, column.index)) continue;
    if (!is_whole(cell) && parse_number(cell)) return false;
    if (known.insert(cell).second && (read_time(cell) || 2 * std::ssize(known) > table.rows())) return false;
  }
  return true;
}

/// The groups of rows with the same cells.
Groups groups_by(const NamedTable& table, const std::vector<std::int64_t>& columns) {
  Groups groups;
  std::unordered_map<std::string, std::int64_t> places;
  std::string key;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    key.clear();
    for (const std::int64_t column : columns) (key += table.cell(row, column)) += '\x1f';
    const auto [place, is_new] = places.emplace(key, groups.count);
    groups.count += is_new ? 1 : 0;
    groups.blocks += row == 0 || groups.of.back() != place->second ? 1 : 0;
    groups.of.push_back(place->second);
  }
  return groups;
}

/// How a column with a number or a date in each row orders the rows of each group.
struct RowOrder {
  bool are_dates = false, are_whole = true;
  bool is_ascending = true;  ///< as the rows are in the file
  bool counts = true;        ///< one by one, from the same number on in all groups
};

/// The order of the rows of each group by a column; nothing where it has none, or two rows of a group have the same.
std::optional<RowOrder> order_of(const NamedTable& table, const RecordingColumn& column,
                                 const Groups& groups) {
  if (column.missing > 0 || column.kind == Kind::words) return {};
  RowOrder order;
  std::vector<std::optional<double>> before(static_cast<std::size_t>(groups.count));
  std::vector<std::pair<std::int64_t, double>> times;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = table.cell(row, column.index);
    std::optional<double> time = parse_number(cell);
    if (!time)
      if (const auto date = read_time(cell)) {
        time = seconds_of(date->time);
        order.are_dates = true;
      }
    if (!time) return {};
    const std::int64_t group = groups.of[static_cast<std::size_t>(row)];
    auto& last = before[static_cast<std::size_t>(group)];
    order.is_ascending = order.is_ascending && (!last || *time > *last);
    order.are_whole = order.are_whole && *time == std::floor(*time);
    last = time;
    times.emplace_back(group, *time);
  }
  std::ranges::sort(times);
  if (std::ranges::adjacent_find(times) != times.end()) return {};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const bool goes_on = i > 0 && times[i].first == times[i - 1].first;
    order.counts = order.counts && times[i].second == (goes_on ? times[i - 1].second + 1 : times[0].second);
  }
  return order;
}

/// Whether a column that orders the rows counts steps in most sequences: it begins anew in each, at the same number.
bool begins_anew(const NamedTable& table, std::int64_t column, const Groups& groups) {
  std::vector<bool> is_known(static_cast<std::size_t>(groups.count), false);
  std::map<std::string_view, std::int64_t> firsts;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const auto of = static_cast<std::size_t>(groups.of[static_cast<std::size_t>(row)]);
    if (is_known[of]) continue;
    is_known[of] = true;
    ++firsts[table.cell(row, column)];
  }
  return std::ranges::any_of(firsts, [&](const auto& first) { return 2 * first.second > groups.count; });
}

bool is_called_step(const std::string& name) {
  return is_called_date(name) || has_word(name, {"time", "t", "step", "second", "seconds", "sec", "s", "ms",
                                                 "frame", "cycle", "index", "n"});
}

/// Whether two rows have the same cell.
bool are_shared(const NamedTable& table, std::int64_t column) {
  std::unordered_set<std::string_view> cells;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (!cells.insert(table.cell(row, column)).second) return true;
  return false;
}

/// The column by which the rows of each group are in order: one of dates or that is called so, else one that begins anew.
void find_time(const NamedTable& table, const RecordingColumns& found, const Groups& groups,
               SequenceColumns& sequences) {
  for (const RecordingColumn& column : found.columns) {
    if (sequences.is_named_by(column.index)) continue;
    const auto order = order_of(table, column, groups);
    if (!order) continue;
    const bool is_time = order->are_dates || is_called_step(column.name) || column.kind == Kind::time;
    const bool may_be_mixed = order->counts || (is_time && (order->are_dates || order->are_whole));
    if (!order->is_ascending && !may_be_mixed) continue;
    if (!is_time && !order->counts && (sequences.time >= 0 || !begins_anew(table, column.index, groups)))
      continue;
    sequences.time = column.index;
    sequences.shares_dates = order->are_dates && are_shared(table, column.index);
    if (is_time) return;
  }
}

/// The value that a column has in each group, "" for none; nothing where a group has two.
std::optional<std::vector<std::string_view>> values_by_group(const NamedTable& table, std::int64_t column,
                                                             const Groups& groups) {
  std::vector<std::string_view> values(static_cast<std::size_t>(groups.count));
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = table.cell(row, column);
    if (is_missing(cell)) continue;
    auto& value = values[static_cast<std::size_t>(groups.of[static_cast<std::size_t>(row)])];
    if (!value.empty() && value != cell) return {};
    value = cell;
  }
  return values;
}

/// Takes a column with one value a sequence as a label, or as one of the others.
void add_fixed(const NamedTable& table, std::int64_t column, const std::vector<std::string_view>& values,
               SequenceColumns& sequences) {
  const std::set<std::string_view> words(values.begin(), values.end());
  const bool are_numbers =
      std::ranges::all_of(words, [](std::string_view word) { return parse_number(word).has_value(); });
  const bool are_whole = std::ranges::all_of(words, is_whole);
  const bool are_classes = (are_whole || !are_numbers) &&
                           words.size() <= (are_numbers ? kMostNumberClasses : kMostWordClasses) &&
                           2 * std::ssize(words) <= sequences.count;
  SequenceLabel label{.column = column, .is_called_so = is_called_label(table.name_of(column))};
  if (are_classes) label.classes.assign(words.begin(), words.end());
  if (words.size() > 1 && !words.contains("") && (are_classes || are_numbers)) {
    sequences.labels.push_back(std::move(label));
  } else {
    sequences.fixed.push_back(column);
  }
}

/// What columns say of the rows if they name sequences; nothing where they name none, or sequences of one row.
SequenceColumns sequences_by(const NamedTable& table, const RecordingColumns& found,
                             const std::vector<std::int64_t>& columns) {
  constexpr std::int64_t kFewest = 4;
  const Groups groups = groups_by(table, columns);
  if (groups.count < kFewest || 2 * groups.count > table.rows()) return {};
  SequenceColumns sequences{.sequence = columns, .count = groups.count};
  find_time(table, found, groups, sequences);
  if (groups.blocks != groups.count && sequences.time < 0) return {};
  for (const RecordingColumn& column : found.columns) {
    if (sequences.is_named_by(column.index) || column.index == sequences.time ||
        column.kind == Kind::constant)
      continue;
    if (const auto values = values_by_group(table, column.index, groups))
      add_fixed(table, column.index, *values, sequences);
  }
  // Those that are called so, words, and the last ones come first.
  const auto rank = [&](const SequenceLabel& label) {
    const bool is_word = !label.classes.empty() && !is_whole(label.classes.front());
    return std::tuple(!label.is_called_so, label.classes.empty(), !is_word, -label.column);
  };
  std::ranges::sort(sequences.labels, {}, rank);
  return sequences;
}

}  // namespace

bool SequenceColumns::is_named_by(std::int64_t column) const {
  return std::ranges::find(sequence, column) != sequence.end();
}

const SequenceLabel* SequenceColumns::label(std::int64_t column) const {
  const auto place = std::ranges::find(labels, column, &SequenceLabel::column);
  return place == labels.end() ? nullptr : &*place;
}

SequenceColumns find_sequences(const NamedTable& table, const RecordingColumns& found) {
  SequenceColumns best;
  std::vector<std::int64_t> candidates;
  const auto take = [&](const std::vector<std::int64_t>& columns) {
    SequenceColumns sequences = sequences_by(table, found, columns);
    if (!sequences.labels.empty() && sequences.count > best.count) best = std::move(sequences);
  };
  constexpr std::size_t kMostSingle = 32;
  for (const RecordingColumn& column : found.columns)
    if (found.has_names && candidates.size() < kMostSingle && may_name(table, column))
      candidates.push_back(column.index);
  for (const std::int64_t column : candidates) take({column});
  // Two, such as subject and trial, where no single one does.
  constexpr std::size_t kMostCandidates = 8;
  candidates.resize(std::min(candidates.size(), best.sequence.empty() ? kMostCandidates : 0));
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (std::size_t j = i + 1; j < candidates.size(); ++j) take({candidates[i], candidates[j]});
  return best;
}

}  // namespace lagtape
