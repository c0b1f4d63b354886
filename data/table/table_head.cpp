#include "lagtape/data/table/table_head.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/data/time/time_names.h"

namespace lagtape {

namespace {

using Row = std::vector<std::string_view>;

constexpr std::int64_t kMostBefore = 60;   // rows that are searched for names
constexpr std::int64_t kMostLooked = 100;  // rows below that show what a column contains

bool is_date(std::string_view cell) { return read_time(cell).has_value(); }
bool is_whole(std::string_view cell) { return cell.find_first_not_of("+-0123456789") == cell.npos; }
/// Whether a cell starts with a number, like times and numbers with units.
bool begins_with_number(std::string_view cell) {
  const std::size_t digit = cell.find_first_not_of("+-.");
  return digit < 3 && cell[digit] >= '0' && cell[digit] <= '9';
}

/// Classifies the cells of a table.
class CellKinds {
 public:
  CellKinds(const TextTable& cells, std::string_view decimals) : cells_(cells), decimals_(decimals) {}

  bool is_number(std::string_view cell) const {
    return std::ranges::any_of(decimals_, [&](char decimal) {
      return parse_number(cell, decimal).has_value() || has_thousands(cell, decimal);
    });
  }
  bool is_value(std::string_view cell) const { return is_number(cell) || is_date(cell); }
  bool has_value(std::int64_t row) const {
    return row < cells_.rows() &&
           std::ranges::any_of(cells_.row(row), [&](std::string_view cell) { return is_value(cell); });
  }
  /// Whether a row could contain names: texts, none of them a number or a time.
  bool is_of_texts(std::int64_t row) const {
    return !std::ranges::all_of(cells_.row(row), is_missing) && !has_value(row);
  }
  /// Whether a column's cells from a row on, except missing ones, are of one kind; false if there are none.
  template <class Kind>
  bool all_below(std::int64_t row, std::int64_t column, Kind is_of_kind) const {
    bool is_any = false;
    for (const std::int64_t end = std::min(cells_.rows(), row + kMostLooked); row < end; ++row) {
      const std::string_view cell = cells_.cell(row, column);
      if (is_missing(cell)) continue;
      if (!is_of_kind(cell)) return false;
      is_any = true;
    }
    return is_any;
  }

 private:
  const TextTable& cells_;
  std::string_view decimals_;
};

/// Whether cells are 0, 1, 2, ..., as pandas numbers unnamed columns.
bool counts_from_zero(const Row& row, std::size_t first) {
  for (std::size_t i = first; i < row.size(); ++i)
    if (row[i] != std::to_string(i - first)) return false;
  return row.size() > first;
}

/// Whether the first row contains names although it has a number or a time.
bool is_named_by_numbers(const TextTable& cells, const CellKinds& kinds) {
  Row row = cells.row(0);
  while (row.size() > 1 && row.back().empty()) row.pop_back();
  if (row.size() < 2 || cells.rows() < 3) return false;
  if (row[0].empty() && counts_from_zero(row, 1)) return true;
  if (std::unordered_set<std::string_view>(row.begin(), row.end()).size() != row.size()) return false;
  if (std::any_of(row.begin() + 1, row.end(), is_missing)) return false;
  // Depths or years next to times: "date,10,20" or ",2019,2020".
  if (row[0].empty()) return kinds.all_below(1, 0, is_date);
  if (!kinds.is_value(row[0]) && !begins_with_number(row[0]))
    return kinds.all_below(1, 0, [&](auto cell) { return kinds.is_value(cell) || begins_with_number(cell); });
  if (!counts_from_zero(row, 0)) return false;
  if (kinds.all_below(1, 0, [&](auto cell) { return !kinds.is_number(cell); })) return true;
  bool has_fractions = false;  // some column contains non-integers below
  for (std::int64_t column = 0; column < cells.columns(); ++column)
    has_fractions = has_fractions || kinds.all_below(1, column, [](auto cell) { return !is_whole(cell); });
  return row.size() > 2 && has_fractions;
}

/// Whether a row has only a few cells, at its start, like lines above a table in spreadsheets.
bool is_sparse(const Row& row) {
  const auto empty = std::ranges::find(row, std::string_view());
  const auto cells = empty - row.begin();
  return cells > 0 && empty != row.end() &&
         std::all_of(empty, row.end(), [](std::string_view cell) { return cell.empty(); });
}

/// Whether a row may contain the names of all columns: distinct texts.
bool may_be_names(const TextTable& cells, const CellKinds& kinds, std::int64_t row) {
  Row names = cells.row(row);
  const auto is_last_used = [&] {
    return kinds.all_below(row + 1, std::ssize(names) - 1, [](std::string_view) { return true; });
  };
  while (names.size() > 1 && names.back().empty() && !is_last_used()) names.pop_back();
  return kinds.is_of_texts(row) && std::ranges::none_of(names, is_missing) &&
         std::unordered_set<std::string_view>(names.begin(), names.end()).size() == names.size();
}

/// The last row that may contain names, below rows that each have a text where the table has numbers or times;
/// 0: none.
std::int64_t last_of_head(const TextTable& cells, const CellKinds& kinds) {
  constexpr std::int64_t kMostLines = 20;
  for (std::int64_t row = std::min(cells.rows() - 2, kMostLines); row > 0; --row) {
    if (!may_be_names(cells, kinds, row)) continue;
    std::vector<std::int64_t> values;
    for (std::int64_t column = 0; column < cells.columns(); ++column)
      if (kinds.all_below(row + 1, column, [&](auto cell) { return kinds.is_value(cell); }))
        values.push_back(column);
    const auto is_above_table = [&](std::int64_t above) {
      return std::ranges::any_of(values, [&](std::int64_t column) {
        const std::string_view cell = cells.cell(above, column);
        return !is_missing(cell) && !kinds.is_value(cell);
      });
    };
    std::int64_t above = 0;
    while (above < row && is_above_table(above)) ++above;
    if (above == row) return row;
  }
  return 0;
}

/// The row of the names below lines with as many cells as the table; 0: there are no such lines. Throws
/// InputError if several rows could be names.
std::int64_t row_below_lines(const TextTable& cells, const CellKinds& kinds, const std::string& where) {
  const std::int64_t last = last_of_head(cells, kinds);
  if (last == 0) return 0;
  std::int64_t times = 0;  // the column of the times
  while (times < cells.columns() && !kinds.all_below(last + 1, times, is_date)) ++times;
  if (times == cells.columns()) times = 0;
  const auto names_time = [&](std::int64_t row) {
    return kinds.is_of_texts(row) && has_time_name(cells.cell(row, times));
  };
  if (names_time(last - 1)) return last - 1;  // above a row of units
  std::int64_t first = 0;
  while (first < last && is_sparse(cells.row(first))) ++first;
  if (names_time(last) || !may_be_names(cells, kinds, last - 1)) return last;
  if (first == last - 1) return first;
  throw InputError(
      Problem{.place = {.file = where, .line = cells.line(last)},
              .rule = Rule::conflict,
              .statement = text_of("lines ", cells.line(0), " to ", cells.line(last),
                                   " are texts above numbers, and several could be the names of the columns"),
              .hint = text_of(R"("skip_rows": )", cells.line(last) - 1, " in \"data\" says that line ",
                              cells.line(last), " has them.")});
}

/// The row of the names; -1: none.
std::int64_t row_of_names(const TextTable& cells, const CellKinds& kinds, const HeadSearch& search) {
  if (search.has_lines_above)
    if (const std::int64_t names = row_below_lines(cells, kinds, search.where); names > 0) return names;
  std::int64_t row = 0;
  for (const std::int64_t end = std::min(cells.rows() - 1, kMostBefore);
       row < end && is_sparse(cells.row(row));)
    ++row;
  if (row > 0) {
    const Row names = cells.row(row);
    const bool is_full =
        std::find(names.begin() + 1, names.end(), std::string_view()) == names.end() &&
        (!names[0].empty() || kinds.all_below(row + 1, 0, [&](auto cell) { return kinds.is_value(cell); }));
    if (is_full && kinds.is_of_texts(row) && (kinds.has_value(row + 1) || kinds.has_value(row + 2)))
      return row;
  }
  return kinds.is_of_texts(0) || is_named_by_numbers(cells, kinds) ? 0 : -1;
}

/// Whether a row contains units: texts above numbers, which do not recur.
bool has_units(const TextTable& cells, const CellKinds& kinds, std::int64_t row) {
  constexpr std::size_t kLongest = 40;
  if (row + 1 >= cells.rows() || !kinds.is_of_texts(row)) return false;
  bool is_any = false;
  for (std::int64_t column = 0; column < cells.columns(); ++column) {
    const std::string_view unit = cells.cell(row, column);
    if (unit.size() > kLongest || begins_with_number(unit)) return false;
    if (is_missing(unit)) continue;
    if (!kinds.all_below(row + 1, column, [&](auto cell) { return cell != unit; })) return false;
    is_any = is_any || kinds.all_below(row + 1, column, begins_with_number);
  }
  return is_any;
}

/// "[MW]" -> "MW"
std::string unit_of(std::string_view cell) {
  const bool is_bracketed = cell.size() > 2 && ((cell.front() == '[' && cell.back() == ']') ||
                                                (cell.front() == '(' && cell.back() == ')'));
  if (is_bracketed) cell = cell.substr(1, cell.size() - 2);
  return is_missing(cell) ? std::string() : std::string(cell);
}

/// Skips a row that names only the first column, as pandas writes the name of a date index below several rows
/// of names.
bool take_index_name(const TextTable& cells, const CellKinds& kinds, TableHead& head) {
  if (head.first + 1 >= cells.rows() || cells.columns() < 2) return false;
  const Row row = cells.row(head.first);
  const bool is_alone = std::all_of(row.begin() + 1, row.end(), [](auto cell) { return cell.empty(); });
  if (!is_alone || is_missing(row[0]) || kinds.is_value(row[0]) ||
      !kinds.all_below(head.first + 1, 0, is_date))
    return false;
  head.names[0] = row[0];
  if (!head.units.empty()) head.units[0].clear();
  head.notes.push_back(text_of("line ", cells.line(head.first), " names the first column: ", row[0]));
  ++head.first;
  return true;
}

/// Whether columns share a name, not counting the first.
bool has_equal_names(const std::vector<std::string>& names) {
  return std::unordered_set<std::string_view>(names.begin() + 1, names.end()).size() + 1 < names.size();
}

/// Whether all names but the first belong to several columns.
bool are_all_shared(const std::vector<std::string>& names) {
  return std::all_of(names.begin() + 1, names.end(), [&](const std::string& name) {
    return std::count(names.begin() + 1, names.end(), name) > 1;
  });
}

/// Adds further rows of names if those in the first row cover several columns each, as in spreadsheets with
/// merged cells and pandas tables with multilevel columns: "Close AAPL".
bool take_levels(const TextTable& cells, const CellKinds& kinds, TableHead& head) {
  constexpr std::int64_t kMostLevels = 4;
  if (head.columns < 3) return false;
  std::vector<std::string> names = head.names;
  bool is_merged = false;
  for (std::size_t i = 2; i < names.size(); ++i)
    if (names[i].empty() && !names[i - 1].empty()) {
      names[i] = names[i - 1];
      is_merged = true;
    }
  const std::int64_t first = head.first;
  if (first >= cells.rows() || !(is_merged || are_all_shared(names))) return false;
  for (std::int64_t row = first; row < std::min(first + kMostLevels, cells.rows() - 1); ++row) {
    const Row level = cells.row(row);
    if (!kinds.is_of_texts(row) || std::ranges::count(level, std::string_view()) + 1 >= std::ssize(level))
      return false;
    if (!level[0].empty()) names[0] = level[0];
    for (std::size_t i = 1; i < names.size(); ++i)
      if (!level[i].empty()) names[i] += (names[i].empty() ? "" : " ") + std::string(level[i]);
    if (has_equal_names(names)) continue;
    constexpr std::int64_t kMostBelow = 3;  // rows with names, with units, and with the name of the index
    bool has_values = false;
    for (std::int64_t below = 1; below <= kMostBelow; ++below)
      has_values = has_values || kinds.has_value(row + below);
    if (!has_values) return false;
    head.names = std::move(names);
    head.first = row + 1;
    head.notes.push_back(text_of("lines ", cells.line(first) - 1, " to ", cells.line(row),
                                 " are the names of the columns: ", listed(head.names, 10)));
    return true;
  }
  return false;
}

/// Renames the second of two columns that share a name, as pandas does.
void rename_columns(TableHead& head) {
  std::unordered_map<std::string, std::int64_t> counts;
  std::unordered_set<std::string> known(head.names.begin(), head.names.end());
  std::vector<std::string> renamed;
  for (std::size_t i = 0; i < head.names.size(); ++i) {
    std::string& name = head.names[i];
    const std::string old = name;
    if (old.empty() && counts[old] > 0) {
      name = text_of("Unnamed: ", i);
      renamed.push_back(name);
    }
    for (std::int64_t count = counts[name]; count > 0;) {
      counts[old] = count + 1;
      name = text_of(old, ".", count);
      count = known.insert(name).second ? counts[name] : count + 1;
      if (count == 0) renamed.push_back(name);
    }
    ++counts[name];
  }
  if (!renamed.empty())
    head.notes.push_back(text_of("columns of one name or without one are renamed: ", listed(renamed, 10)));
}

void add_notes(const TextTable& cells, std::int64_t names, std::int64_t row_of_units, TableHead& head) {
  const Row row = cells.row(std::max<std::int64_t>(names, 0));
  if (names > 0) head.notes.push_back(text_of("the table begins with the names in line ", cells.line(names)));
  if (names < 0 && row.size() > 1 && counts_from_zero(row, 0))
    head.notes.push_back(text_of("line ", cells.line(0), " is read as numbers. If 0, 1, ... are names: ",
                                 R"("skip_rows": )", cells.line(0)));
  if (names >= 0 && parse_number(row.back()))
    head.notes.push_back(text_of("line ", cells.line(names), " is read as names: ", listed(head.names, 10)));
  std::vector<std::string> units;
  for (std::size_t i = 0; i < head.units.size(); ++i)
    if (!head.units[i].empty()) units.push_back(text_of(head.names[i], " in ", head.units[i]));
  const bool is_full = std::ranges::find(head.units, "") == head.units.end();
  if (!units.empty())
    head.notes.push_back(text_of(
        "line ", cells.line(row_of_units), " has units: ", listed(units, 10),
        is_full ? text_of(R"(. If it has the names: "skip_rows": )", cells.line(row_of_units) - 1) : ""));
}

}  // namespace

TableHead head_of(std::vector<std::string> names) {
  TableHead head{.columns = std::ssize(names)};
  head.names = std::move(names);
  rename_columns(head);
  return head;
}

TableHead plain_head(const TextTable& cells, std::string_view decimals) {
  TableHead head{.columns = cells.columns()};
  if (!CellKinds(cells, decimals).is_of_texts(0)) return head;
  const Row names = cells.row(0);
  head.names.assign(names.begin(), names.end());
  head.first = 1;
  return head;
}

TableHead find_head(const TextTable& cells, std::string_view decimals, const HeadSearch& search) {
  const CellKinds kinds(cells, decimals);
  TableHead head{.columns = cells.columns()};
  const std::int64_t names = row_of_names(cells, kinds, search);
  std::int64_t row_of_units = 0;
  if (names >= 0) {
    const Row row = cells.row(names);
    head.names.assign(row.begin(), row.end());
    head.first = names + 1;
    take_levels(cells, kinds, head);
    if (!take_index_name(cells, kinds, head) && has_units(cells, kinds, head.first)) {
      for (const std::string_view cell : cells.row(head.first)) head.units.push_back(unit_of(cell));
      row_of_units = head.first++;
      take_index_name(cells, kinds, head);
    }
    const auto is_empty = [&](std::int64_t column) {
      for (std::int64_t row = head.first; row < cells.rows(); ++row)
        if (!cells.cell(row, column).empty()) return false;
      return true;
    };
    while (head.columns > 1 && head.names.back().empty() && is_empty(head.columns - 1)) {
      head.names.pop_back();
      --head.columns;
    }
    if (!head.units.empty()) head.units.resize(head.names.size());
    rename_columns(head);
  }
  add_notes(cells, names, row_of_units, head);
  return head;
}

}  // namespace lagtape
