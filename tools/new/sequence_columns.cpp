#include "lagtape/tools/new/sequence_columns.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/data/time/time_names.h"
#include "lagtape/tools/new/column_names.h"
#include "lagtape/tools/new/recording_columns.h"
#include "lagtape/tools/new/table_codes.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

constexpr std::size_t kMostWordClasses = 64, kMostNumberClasses = 20;

bool is_called_label(const std::string& name) {
  return has_word(name, {"label", "labels", "class", "target", "y", "activity", "verdict", "outcome",
                         "diagnosis", "gesture"});
}

/// Whether it is called so and could be nothing else, as the target of a forecast is.
bool is_called_class(const std::string& name) {
  return has_word(name,
                  {"label", "labels", "class", "activity", "verdict", "outcome", "diagnosis", "gesture"});
}

/// Whether a cell is a whole number, also as pandas writes those of a column that had a hole: 3.0.
bool is_whole(std::string_view cell) {
  if (cell.starts_with('-')) cell.remove_prefix(1);
  if (const std::size_t point = cell.find('.'); point != cell.npos && point > 0 && point + 1 < cell.size() &&
                                                cell.find_first_not_of('0', point + 1) == cell.npos)
    cell = cell.substr(0, point);
  return !cell.empty() && cell.find_first_not_of("0123456789") == cell.npos;
}

/// Whether all cells of a column are words or whole numbers, and no dates, which come again.
bool may_name(TableCodes& codes, const RecordingColumn& column) {
  if (column.kind == Kind::constant || column.kind == Kind::counter || column.missing > 0) return false;
  if (is_called_date(column.name) || is_called_label(column.name)) return false;
  const auto may_be_name = [&](std::int64_t row) {
    const std::string_view cell = codes.table.cell(row, column.index);
    return (is_whole(cell) || !codes.number(cell)) && !read_time(cell);
  };
  if (!may_be_name(0)) return false;
  const RowCodes* own = codes.few_of(column.index);
  return own && std::ranges::all_of(own->firsts, may_be_name);
}

/// How a column with a number or a date in each row orders the rows of each group.
struct RowOrder {
  bool are_dates = false, are_whole = true;
  bool is_ascending = true;  ///< as the rows are in the file
  bool counts = true;        ///< one by one, from the same number on in all groups
};

/// The order of the rows of each group by a column; nothing where it has none, or two rows of a group have the same.
std::optional<RowOrder> order_of(TableCodes& codes, const RecordingColumn& column, const RowCodes& groups) {
  if (column.missing > 0 || column.kind == Kind::words) return {};
  const ColumnValues& values = codes.values(column.index);
  if (values.of.empty()) return {};
  RowOrder order{.are_dates = values.are_dates};
  std::vector<std::optional<double>> before(groups.firsts.size());
  const double begin = values.of.front();
  for (std::size_t row = 0; row < values.of.size(); ++row) {
    auto& last = before[groups.of[row]];
    const double time = values.of[row];
    order.is_ascending = order.is_ascending && (!last || time > *last);
    order.are_whole = order.are_whole && time == std::floor(time);
    order.counts = order.counts && time == (last ? *last + 1 : begin);
    last = time;
  }
  if (order.is_ascending) return order;
  std::vector<std::pair<std::uint32_t, double>> times;
  for (std::size_t row = 0; row < values.of.size(); ++row) times.emplace_back(groups.of[row], values.of[row]);
  std::ranges::sort(times);
  if (std::ranges::adjacent_find(times) != times.end()) return {};
  order.counts = true;
  for (std::size_t i = 0; i < times.size() && order.counts; ++i) {
    const bool goes_on = i > 0 && times[i].first == times[i - 1].first;
    order.counts = times[i].second == (goes_on ? times[i - 1].second + 1 : times[0].second);
  }
  return order;
}

/// Whether a column that orders the rows counts steps in most sequences: it begins anew in each, at the same number.
bool begins_anew(const NamedTable& table, std::int64_t column, const RowCodes& groups) {
  std::map<std::string_view, std::int64_t> firsts;
  for (const std::int64_t row : groups.firsts) ++firsts[table.cell(row, column)];
  return std::ranges::any_of(firsts, [&](const auto& first) { return 2 * first.second > groups.count(); });
}

bool is_called_step(const std::string& name) {
  return is_called_date(name) || has_word(name, {"time", "t", "step", "second", "seconds", "sec", "s", "ms",
                                                 "frame", "cycle", "index", "n"});
}

/// The column by which the rows of each group are in order: one of dates or that is called so, else one that begins anew.
void find_time(TableCodes& codes, const RecordingColumns& found, const RowCodes& groups,
               SequenceColumns& sequences) {
  for (const RecordingColumn& column : found.columns) {
    if (sequences.is_named_by(column.index)) continue;
    const auto order = order_of(codes, column, groups);
    if (!order) continue;
    const bool is_time = order->are_dates || is_called_step(column.name) || column.kind == Kind::time;
    const bool may_be_mixed = order->counts || (is_time && (order->are_dates || order->are_whole));
    if (!order->is_ascending && !may_be_mixed) continue;
    if (!is_time && !order->counts &&
        (sequences.time >= 0 || !begins_anew(codes.table, column.index, groups)))
      continue;
    sequences.time = column.index;
    sequences.shares_dates = order->are_dates && codes.of(column.index).count() < codes.table.rows();
    if (is_time) return;
  }
}

/// Takes "none", "NA" and "null" as words where all rows of a group have one: no fault is a class too. "NA" and "null" are missing
/// labels in fewer groups than any word has.
void take_none_as_word(const TableCodes& codes, std::int64_t column, const RowCodes& groups,
                       std::vector<std::string_view>& values) {
  constexpr std::string_view kNone[] = {"none", "None", "NONE"};
  constexpr std::string_view kMissing[] = {"NA", "na", "N/A", "n/a", "null", "Null", "NULL"};
  const auto is_in = [](const auto& list, std::string_view cell) {
    return std::ranges::find(list, cell) != std::end(list);
  };
  std::map<std::string_view, std::int64_t> counts;
  for (const std::string_view value : values) {
    if (!value.empty() && codes.number(value)) return;
    if (!value.empty()) ++counts[value];
  }
  std::vector<std::string_view> nones(values.size());
  for (std::size_t of = 0; of < values.size(); ++of)
    if (const std::string_view cell = codes.table.cell(groups.firsts[of], column);
        values[of].empty() && (is_in(kNone, cell) || is_in(kMissing, cell)))
      nones[of] = cell;
  for (std::int64_t row = 0; row < codes.table.rows(); ++row)
    if (codes.table.cell(row, column) != nones[groups.at(row)]) nones[groups.at(row)] = {};
  std::map<std::string_view, std::int64_t> none_counts;
  for (const std::string_view none : nones) ++none_counts[none];
  const auto rarest = std::ranges::min_element(counts, {}, &decltype(counts)::value_type::second);
  for (std::size_t of = 0; of < values.size(); ++of) {
    const bool is_common = rarest != counts.end() && 2 * none_counts[nones[of]] >= rarest->second;
    if (is_in(kNone, nones[of]) || (is_in(kMissing, nones[of]) && is_common)) values[of] = nones[of];
  }
}

/// The value that a column has in each group, "" for none; nothing where a group has two.
std::optional<std::vector<std::string_view>> values_by_group(const TableCodes& codes, std::int64_t column,
                                                             const RowCodes& groups) {
  std::vector<std::string_view> values(groups.firsts.size());
  for (std::int64_t row = 0; row < codes.table.rows(); ++row) {
    const std::string_view cell = codes.table.cell(row, column);
    auto& value = values[groups.at(row)];
    if (value == cell || is_missing(cell)) continue;
    if (!value.empty()) return {};
    value = cell;
  }
  take_none_as_word(codes, column, groups, values);
  return values;
}

/// A label that a few sequences contradict, or lack; nothing for other columns.
std::optional<BrokenLabel> broken_label(const TableCodes& codes, const RecordingColumn& column,
                                        const RowCodes& groups, const std::vector<std::int64_t>& named_by) {
  const NamedTable& table = codes.table;
  if (!is_called_class(column.name) || (column.kind != Kind::words && column.kind != Kind::numbers))
    return {};
  std::vector<std::int64_t> first(groups.firsts.size(), -1), other = first;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::size_t of = groups.at(row);
    const std::string_view cell = table.cell(row, column.index);
    if (is_missing(cell)) continue;
    if (!is_whole(cell) && codes.number(cell)) return {};
    if (first[of] < 0) first[of] = row;
    if (other[of] < 0 && cell != table.cell(first[of], column.index)) other[of] = row;
  }
  const auto is_broken = [&](std::size_t of) { return first[of] < 0 || other[of] >= 0; };
  std::vector<std::size_t> broken;
  for (std::size_t of = 0; of < first.size(); ++of)
    if (is_broken(of)) broken.push_back(of);
  constexpr std::size_t kMostBroken = 5;  // one in so many
  if (broken.empty() || kMostBroken * broken.size() > first.size()) return {};
  const std::size_t of = broken.front();
  std::string name;
  for (const std::int64_t part : named_by)
    name += text_of(name.empty() ? "" : " / ", table.cell(groups.firsts[of], part));
  name = text_of("the sequence ", quote(name, 40));
  const auto label = [&](std::int64_t row) { return quote(table.cell(row, column.index), 40); };
  const bool is_missing = first[of] < 0;
  return BrokenLabel{
      column.index,
      {.place = {.file = table.where()},
       .rule = is_missing ? Rule::missing : Rule::conflict,
       .statement = is_missing ? text_of("line ", table.line(groups.firsts[of]), ": ", name, " has no ",
                                         quote(column.name), " in any row")
                               : text_of("lines ", table.line(first[of]), " and ", table.line(other[of]),
                                         ": ", name, " has ", label(first[of]), " and ", label(other[of]),
                                         " in ", quote(column.name)),
       .hint = text_of(
           "Of the ", groups.count(), " sequences all but ", broken.size(),
           " have one label in all rows. Correct or remove the others, or name another column to predict: "
           "lagtape new --target COLUMN.")}};
}

/// Whether whole numbers count up or down with those that name the sequences, as the steps behind a row do with those before it.
bool counts_as_names(const TableCodes& codes, const std::vector<std::string_view>& values,
                     const RowCodes& groups, const SequenceColumns& sequences) {
  bool rises = sequences.sequence.size() == 1, falls = rises;
  double sum = 0, difference = 0;
  for (std::size_t of = 0; of < values.size() && (rises || falls); ++of) {
    const auto name = codes.number(codes.table.cell(groups.firsts[of], sequences.sequence[0]));
    const double value = codes.number(values[of]).value_or(0);
    if (!name) return false;
    if (of == 0) sum = *name + value, difference = *name - value;
    rises = rises && *name - value == difference;
    falls = falls && *name + value == sum;
  }
  return rises || falls;
}

/// Takes a column with one value a sequence as a label, or as one of the others.
void add_fixed(const TableCodes& codes, std::int64_t column, const std::vector<std::string_view>& values,
               const RowCodes& groups, SequenceColumns& sequences) {
  const std::set<std::string_view> words(values.begin(), values.end());
  const bool are_numbers =
      std::ranges::all_of(words, [&](std::string_view word) { return codes.number(word).has_value(); });
  const bool are_whole = std::ranges::all_of(words, is_whole);
  const bool are_classes = (are_whole || !are_numbers) &&
                           words.size() <= (are_numbers ? kMostNumberClasses : kMostWordClasses) &&
                           2 * std::ssize(words) <= sequences.count;
  SequenceLabel label{.column = column, .is_called_so = is_called_label(codes.table.name_of(column))};
  if (are_classes) label.classes.assign(words.begin(), words.end());
  const bool counts = are_whole && counts_as_names(codes, values, groups, sequences);
  if (words.size() > 1 && !words.contains("") && (are_classes || are_numbers) && !counts) {
    sequences.labels.push_back(std::move(label));
  } else {
    sequences.fixed.push_back(column);
  }
}

/// The column of persons or the like of whom there are several sequences each; -1: there is none.
std::int64_t group_of(TableCodes& codes, const RecordingColumns& found, const SequenceColumns& sequences) {
  constexpr std::int64_t kFewest = 6;
  for (const RecordingColumn& column : found.columns) {
    const bool has_one = sequences.is_named_by(column.index) || sequences.label(column.index) != nullptr ||
                         std::ranges::find(sequences.fixed, column.index) != sequences.fixed.end();
    if (!has_one || !has_word(column.name, {"subject", "person", "patient", "participant", "proband", "user",
                                            "speaker", "driver", "volunteer", "animal"}))
      continue;
    const std::int64_t groups = codes.of(column.index).count();
    if (groups >= kFewest && groups < sequences.count) return column.index;
  }
  return -1;
}

/// Whether each row has a time that no other one has.
bool are_times_unique(TableCodes& codes, const RecordingColumns& found) {
  std::vector<std::int64_t> times;
  for (const RecordingColumn& column : found.columns)
    if (column.kind == Kind::time || column.kind == Kind::clock) times.push_back(column.index);
  return !times.empty() && codes.of(times).count() == codes.table.rows();
}

std::vector<std::int64_t> times_of(const RecordingColumns& found) {
  std::vector<std::int64_t> times;
  for (const RecordingColumn& column : found.columns)
    if (column.kind == Kind::time || column.kind == Kind::clock) times.push_back(column.index);
  return times;
}

/// Whether the rows are one series: each has its time, and they are in its order. Two columns are a date and a time of day.
bool are_one_series(TableCodes& codes, const std::vector<std::int64_t>& times) {
  if (times.empty() || codes.of(times).count() < codes.table.rows()) return false;
  const std::vector<double>& first = codes.values(times.front()).of;
  return times.size() > 1 ||
         (!first.empty() && (std::ranges::is_sorted(first) || std::ranges::is_sorted(first, std::greater())));
}

/// Whether a column that counts the steps begins again within a group, whose rows are several sequences then.
bool begins_again(TableCodes& codes, const RecordingColumn& column, const RowCodes& groups) {
  if (column.kind != Kind::numbers || column.missing > 0 || !is_called_step(column.name)) return false;
  const std::vector<double>& steps = codes.values(column.index).of;
  bool begins = false;
  for (std::int64_t row = 1; row < std::ssize(steps); ++row) {
    const double before = steps[static_cast<std::size_t>(row) - 1],
                 step = steps[static_cast<std::size_t>(row)];
    if (step != before + 1 && step != steps.front()) return false;
    begins = begins || (step == steps.front() && groups.goes_on(row));
  }
  return begins;
}

/// The sequences of the rows if these columns name them; nothing where they name none, or sequences of one
/// row.
SequenceColumns sequences_by(TableCodes& codes, const RecordingColumns& found,
                             const std::vector<std::int64_t>& columns) {
  constexpr std::int64_t kFewest = 4;
  const NamedTable& table = codes.table;
  const RowCodes groups = codes.of(columns);
  if (groups.count() < kFewest || 2 * groups.count() > table.rows()) return {};
  SequenceColumns sequences{.sequence = columns, .count = groups.count()};
  find_time(codes, found, groups, sequences);
  const std::vector<std::int64_t> times =
      sequences.time < 0 ? std::vector<std::int64_t>() : std::vector{sequences.time};
  if (!groups.are_blocks() &&
      (times.empty() || are_one_series(codes, times) || are_one_series(codes, times_of(found))))
    return {};
  if (std::ranges::any_of(found.columns,
                          [&](const auto& column) { return begins_again(codes, column, groups); }))
    return {};
  for (const RecordingColumn& column : found.columns) {
    if (sequences.is_named_by(column.index) || column.index == sequences.time ||
        column.kind == Kind::constant)
      continue;
    if (const auto values = values_by_group(codes, column.index, groups))
      add_fixed(codes, column.index, *values, groups, sequences);
    if (!sequences.broken && !sequences.shares_dates)
      sequences.broken = broken_label(codes, column, groups, columns);
  }
  if (!groups.are_blocks() &&
      are_times_unique(codes, found))  // one recording, whose rows have words or parts of dates
    std::erase_if(sequences.labels, [](const SequenceLabel& label) { return !label.is_called_so; });
  sequences.group = group_of(codes, found, sequences);
  // Columns with such names, words, and the last columns come first.
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

SequenceColumns find_sequences(TableCodes& codes, const RecordingColumns& found) {
  SequenceColumns best, with_broken;
  std::vector<std::int64_t> candidates;
  const auto take = [&](const std::vector<std::int64_t>& columns) {
    SequenceColumns sequences = sequences_by(codes, found, columns);
    if (sequences.broken && sequences.count > with_broken.count) with_broken = sequences;
    if (!sequences.labels.empty() && sequences.count > best.count) best = std::move(sequences);
  };
  constexpr std::size_t kMostSingle = 32;
  for (const RecordingColumn& column : found.columns)
    if (found.has_names && candidates.size() < kMostSingle && may_name(codes, column) &&
        (!is_called_step(column.name) || codes.of(column.index).are_blocks()))
      candidates.push_back(column.index);
  for (const std::int64_t column : candidates) take({column});
  // Two, such as subject and trial, where no single one does, or where only theirs have rows that a column orders.
  constexpr std::size_t kMostCandidates = 8;
  const SequenceColumns single = best;
  candidates.resize(std::min(candidates.size(), single.time < 0 ? kMostCandidates : 0));
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (std::size_t j = i + 1; j < candidates.size(); ++j)
      if (const std::vector<std::int64_t> both = {candidates[i], candidates[j]};
          single.sequence.empty() || codes.of(both).are_blocks())
        take(both);
  if (best.sequence.empty()) return with_broken;
  return best.time < 0 && !single.sequence.empty() ? single : best;
}

}  // namespace lagtape
