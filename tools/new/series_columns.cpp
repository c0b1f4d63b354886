#include "lagtape/tools/new/series_columns.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/time/time_names.h"
#include "lagtape/tools/new/column_names.h"
#include "lagtape/tools/new/recording_times.h"

namespace lagtape {

namespace {

using Kind = RecordingColumn::Kind;

constexpr std::size_t kMostCandidates = 12;

bool is_code(std::string_view cell) { return cell.find_first_not_of("0123456789") == cell.npos; }

/// Whether a column may say which series a row is of: words, or whole numbers that are too orderly for measurements,
/// as their rows lie one below the other or every series has every one of `times` times.
bool may_name_series(TableCodes& codes, const RecordingColumn& column, std::int64_t times) {
  if (column.kind == Kind::constant || column.missing > 0) return false;
  const NamedTable& table = codes.table;
  const auto cell = [&](std::int64_t row) { return table.cell(row, column.index); };
  const bool is_place = has_word(column.name, {"lat", "latitude", "lon", "long", "longitude"});
  if (column.kind == Kind::numbers && !is_place && !is_code(cell(0))) return false;
  const RowCodes* own = codes.few_of(column.index);
  if (!own || own->count() < 2) return false;
  if (is_place) return table.rows() % (own->count() * times) == 0;
  return column.kind != Kind::numbers ||
         (std::ranges::all_of(own->firsts, [&](std::int64_t row) { return is_code(cell(row)); }) &&
          (own->are_blocks() || table.rows() % (own->count() * times) == 0));
}

/// Whether the numbers of a column count the rows of each series, which lie one below the other, from whatever number on.
bool counts_in(TableCodes& codes, const RecordingColumn& counter, std::int64_t series) {
  const ColumnValues& numbers = codes.values(counter.index);
  if (numbers.of.empty() || numbers.are_dates) return false;
  const RowCodes& own = codes.of(series);
  for (std::size_t row = 1; row < numbers.of.size(); ++row)
    if (own.of[row] == own.of[row - 1] && numbers.of[row] != numbers.of[row - 1] + 1) return false;
  return own.blocks > 1 && 2 * own.blocks <= codes.table.rows();
}

std::vector<std::int64_t> time_columns(const std::vector<RecordingColumn>& all) {
  std::vector<std::int64_t> times;
  for (const RecordingColumn& column : all)
    if (column.kind == Kind::time || column.kind == Kind::clock) times.push_back(column.index);
  return times;
}

/// Finds columns, one to three, that say which series a row is of, if each has every time of `times` once; except for
/// the hours that come twice when clocks are set back, if no column has each once.
void find_dated_series(TableCodes& codes, const std::vector<RecordingColumn>& all, const RowCodes& times,
                       FoundSeries& found) {
  const std::int64_t rows = codes.table.rows();
  std::vector<std::int64_t> candidates;
  for (const RecordingColumn& column : all)
    if (column.kind != Kind::time && column.kind != Kind::clock && !is_called_date(column.name) &&
        may_name_series(codes, column, times.count()))
      candidates.push_back(column.index);
  std::int64_t most_repeated = 0;
  const auto take = [&](const std::vector<std::int64_t>& columns, const RowCodes& series) {
    if (2 * series.count() > rows || repeated_pairs(series, times) > most_repeated) return false;
    for (const std::int64_t column : columns) found.names.push_back(codes.table.name_of(column));
    return true;
  };
  for (const std::int64_t column : candidates)
    if (take({column}, codes.of(column))) return;
  for (std::size_t i = 0; i < candidates.size() && i < kMostCandidates; ++i)
    for (std::size_t j = i + 1; j < candidates.size() && j < kMostCandidates; ++j) {
      const std::vector<std::int64_t> both = {candidates[i], candidates[j]};
      if (take(both, codes.of(both))) return;
    }
  const std::size_t most = std::min(candidates.size(), kMostCandidates);
  for (std::size_t i = 0; i < most; ++i)
    for (std::size_t j = i + 1; j < most; ++j)
      for (std::size_t k = j + 1; k < most; ++k) {
        const std::vector<std::int64_t> three = {candidates[i], candidates[j], candidates[k]};
        if (take(three, codes.of(three))) return;
      }
  constexpr std::int64_t kRowsBetweenChanges = 200;
  most_repeated = rows / kRowsBetweenChanges;
  for (const std::int64_t column : candidates)
    if (take({column}, codes.of(column))) return;
}

/// Finds how long the series are, and marks the columns that have one value in each.
void describe_series(TableCodes& codes, std::vector<RecordingColumn>& all, FoundSeries& found) {
  const NamedTable& table = codes.table;
  std::vector<std::int64_t> columns;
  for (const RecordingColumn& column : all)
    if (std::ranges::find(found.names, column.name) != found.names.end()) columns.push_back(column.index);
  const RowCodes series = codes.of(columns);
  std::vector<std::int64_t> lengths(series.firsts.size(), 0);
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (!table.cell(row, columns[0]).empty()) ++lengths[series.at(row)];
  std::erase(lengths, 0);
  std::ranges::sort(lengths);
  constexpr std::int64_t kFewest = 4;
  std::size_t usual = lengths.size() / 4;
  while (usual + 1 < lengths.size() && lengths[usual] < kFewest)
    ++usual;  // shorter ones are left out of the training
  found.usual_rows = lengths[usual];
  found.count = std::ssize(lengths);
  for (RecordingColumn& column : all) {
    if ((column.kind != Kind::numbers && column.kind != Kind::words) || column.missing > 0) continue;
    if (std::ranges::find(columns, column.index) != columns.end()) continue;
    column.is_fixed = true;
    for (std::int64_t row = 0; row < table.rows() && column.is_fixed; ++row)
      column.is_fixed =
          table.cell(row, column.index) == table.cell(series.firsts[series.at(row)], column.index);
  }
  found.of.assign(series.of.begin(), series.of.end());
}

/// Refuses rows in which a column counts from its beginning again and again, and another one says more than once of which kind
/// the rows are.
[[noreturn]] void refuse_unnamed(const NamedTable& table, const RecordingColumn& kind,
                                 const RecordingColumn& counter) {
  throw InputError(Problem{
      .place = {.file = table.where()},
      .rule = Rule::missing,
      .statement =
          text_of("the rows of several sequences lie one below the other, each with its ", quote(kind.name),
                  ", and ", quote(counter.name), " begins again in each. No column names them"),
      .hint = "Add one, such as \"run\", whose cells are alike in all rows of a sequence."});
}

/// Whether a column is called as those are that name series, with two rows a series or more.
bool is_called_series(TableCodes& codes, const RecordingColumn& column) {
  constexpr std::string_view kNames[] = {"unique", "series", "station", "sensor", "device", "meter",
                                         "site",   "node",   "logger",  "item",   "sku",    "store",
                                         "shop",   "symbol", "ticker",  "ts",     ""};
  // Names with several recordings; a number of users is measured, and their rows are not together.
  constexpr std::string_view kOwners[] = {"user",   "subject", "patient", "participant", "person",
                                          "engine", "machine", "unit",    "run",         "trial"};
  std::string name = column.name;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view end : {"id", "name", "_", " "})
    if (name.ends_with(end)) name.resize(name.size() - end.size());
  const bool is_owner = std::ranges::find(kOwners, name) != std::end(kOwners);
  if (column.name.empty() || (!is_owner && std::ranges::find(kNames, name) == std::end(kNames))) return false;
  const RowCodes* own = codes.few_of(column.index);
  if (!own || own->count() < 2 || (is_owner && !own->are_blocks())) return false;
  // Others may be called like what they measure.
  const bool is_sure = name.size() < column.name.size() || name == "series" || name == "station";
  const auto is_name = [&](std::int64_t row) { return is_code(codes.table.cell(row, column.index)); };
  return is_sure || column.kind != Kind::numbers || std::ranges::all_of(own->firsts, is_name);
}

/// Whether times go back where a series begins, and nowhere else but by an hour, as clocks do in autumn.
bool begins_before(const NamedTable& table, const std::vector<std::int64_t>& times_in,
                   const RowCodes& series) {
  const auto found = find_times(table, times_in, true);
  bool goes_back = false;
  for (std::int64_t row = 1; found && row < table.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    if (found->times[at] > found->times[at - 1]) continue;
    const bool is_of_clock = found->times[at] >= found->times[at - 1] - kOneHour;
    if (series.goes_on(row) && !is_of_clock) return false;
    goes_back = goes_back || !series.goes_on(row);
  }
  return goes_back;
}

/// Finds the series of a table in which each time comes once, or one of a series twice: a column that is called so, or
/// whose series lie one below the other, each from earlier times on.
void find_other_series(TableCodes& codes, const std::vector<RecordingColumn>& all,
                       const std::vector<std::int64_t>& times_in, const RowCodes& times, FoundSeries& found) {
  for (const RecordingColumn& column : all) {
    const bool is_of_time =
        column.kind == Kind::time || column.kind == Kind::clock || is_called_date(column.name);
    const bool is_called_so = !is_of_time && is_called_series(codes, column);
    if (is_of_time || !(is_called_so || may_name_series(codes, column, times.count()))) continue;
    const RowCodes& own = codes.of(column.index);
    if (!is_called_so && (!own.are_blocks() || !begins_before(codes.table, times_in, own))) continue;
    found.names = {column.name};
    return;
  }
}

}  // namespace

FoundSeries find_series(TableCodes& codes, bool has_lines, std::vector<RecordingColumn>& all) {
  FoundSeries found;
  const std::vector<std::int64_t> times_in = time_columns(all);
  if (has_lines) {
    found.names = {codes.table.name_of(0)};
  } else if (!times_in.empty() && !codes.table.names().empty()) {
    const RowCodes times = codes.of(times_in);
    if (times.count() < codes.table.rows()) find_dated_series(codes, all, times, found);
    if (found.names.empty()) find_other_series(codes, all, times_in, times, found);
  }
  if (!found.names.empty()) describe_series(codes, all, found);
  return found;
}

FoundSeries find_counted_series(TableCodes& codes, std::vector<RecordingColumn>& all) {
  FoundSeries found;
  const bool has_times = std::ranges::find(all, Kind::time, &RecordingColumn::kind) != all.end();
  if (has_times || codes.table.names().empty()) return found;
  constexpr std::int64_t kOneTime = 1;
  std::pair<const RecordingColumn*, const RecordingColumn*> begins_again = {};
  for (const RecordingColumn& column : all) {
    if ((column.kind != Kind::words && column.kind != Kind::other && column.kind != Kind::numbers) ||
        !may_name_series(codes, column, kOneTime))
      continue;
    for (RecordingColumn& counter : all) {
      if (&counter == &column || counter.kind != Kind::numbers || !counts_in(codes, counter, column.index))
        continue;
      const RowCodes& own = codes.of(column.index);
      if (has_word(column.name,
                   {"label", "labels", "class", "activity", "verdict", "outcome", "diagnosis", "gesture"}))
        refuse_unnamed(codes.table, column, counter);
      if (!own.are_blocks() && repeated_pairs(own, codes.of(counter.index)) > 0) {
        if (!is_called_date(column.name)) begins_again = {&column, &counter};
        continue;
      }
      counter.kind = Kind::counter;
      found.names = {column.name};
      describe_series(codes, all, found);
      return found;
    }
  }
  const auto is_step = [](const RecordingColumn& one) {
    const bool is_called_so =
        is_time_name(one.name) || has_word(one.name, {"t", "step", "index", "n", "week"});
    return one.kind == Kind::numbers && one.missing == 0 && is_called_so;
  };
  for (RecordingColumn& step : all) {
    if (!is_step(step) || codes.of(step.index).count() == codes.table.rows()) continue;
    find_dated_series(codes, all, codes.of(step.index), found);
    if (found.names.empty()) continue;
    step.kind = Kind::time;
    found.time = step.name;
    describe_series(codes, all, found);
    return found;
  }
  if (begins_again.first) refuse_unnamed(codes.table, *begins_again.first, *begins_again.second);
  for (const RecordingColumn& column : all) {
    if (!is_called_series(codes, column)) continue;
    found.names = {column.name};
    const auto counts = [&](const RecordingColumn& one) {
      return is_step(one) && repeated_pairs(codes.of(column.index), codes.of(one.index)) == 0;
    };
    const auto counter = std::ranges::find_if(all, counts);
    if (counter != all.end()) {
      counter->kind = Kind::time;
      found.time = counter->name;
    }
    describe_series(codes, all, found);
    return found;
  }
  return found;
}

}  // namespace lagtape
