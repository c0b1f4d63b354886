#include "lagtape/data/table/table_start.h"

#include <algorithm>

#include "lagtape/core/text.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"

namespace lagtape {

namespace {

constexpr std::size_t kMostRows = 120, kLongestPreamble = 60, kFewestRows = 3;
constexpr std::size_t kLongestQuote = 4096;

std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, std::min(text.find('\n', at), text.size()) - at);
}

bool is_value(std::string_view cell) {
  return parse_number(cell, '.') || parse_number(cell, ',') || read_time(cell) || has_thousands(cell, '.') ||
         has_thousands(cell, ',');
}

/// A row split at one separator.
struct ScannedRow {
  std::size_t offset = 0;
  std::int64_t line = 0;
  std::vector<std::string_view> cells = {};
  std::size_t comment = std::string_view::npos;  ///< where a comment directly above starts, and its line
  std::int64_t comment_line = 0;

  /// The cells without trailing empty ones.
  std::size_t filled() const {
    const auto last = std::find_if(cells.rbegin(), cells.rend(), [](auto cell) { return !cell.empty(); });
    return static_cast<std::size_t>(cells.rend() - last);
  }
  bool has_value() const { return std::ranges::any_of(cells, is_value); }
  /// The same, and numbers with units and dates whose order is settled by other rows.
  bool may_have_value() const {
    return std::ranges::any_of(cells, [](std::string_view cell) {
      const std::size_t digit = cell.find_first_not_of("+-.");
      return digit < 3 && cell[digit] >= '0' && cell[digit] <= '9';
    });
  }
};

/// Removes a cell from a text, with the separator or line break that ends it. `ends_row` says which it was.
std::string_view take_cell(std::string_view text, std::size_t& at, char separator, bool& ends_row) {
  std::size_t end = std::min(text.find_first_not_of(' ', at), text.size());
  if (text.substr(end).starts_with('"')) {
    std::size_t close = text.find('"', end + 1);
    while (close != text.npos && text.substr(close + 1).starts_with('"')) close = text.find('"', close + 2);
    if (close != text.npos && close - end < kLongestQuote) end = close;
  }
  while (end < text.size() && text[end] != separator && text[end] != '\n') ++end;
  std::string_view cell = trimmed(text.substr(at, end - at));
  if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
  ends_row = end == text.size() || text[end] == '\n';
  at = std::min(end + 1, text.size());
  return cell;
}

std::vector<std::string_view> take_row(std::string_view text, std::size_t& at, char separator) {
  std::vector<std::string_view> cells;
  for (bool ends_row = false; !ends_row;) cells.push_back(take_cell(text, at, separator, ends_row));
  return cells;
}

/// The first rows of a text split at a separator, without blank lines and comments.
std::vector<ScannedRow> rows_of(std::string_view text, const TableStart& start, char separator) {
  std::vector<ScannedRow> rows;
  ScannedRow next{.line = start.line};
  for (std::size_t at = start.offset; at < text.size() && rows.size() < kMostRows;) {
    const std::string_view line = line_at(text, at), whole = trimmed(line);
    if (whole.empty() || whole.front() == '#') {
      if (!whole.empty()) {
        next.comment = static_cast<std::size_t>(whole.data() - text.data());
        next.comment_line = next.line;
      }
      at += line.size() + 1;
      ++next.line;
      continue;
    }
    next.offset = at;
    next.cells = take_row(text, at, separator);
    const std::string_view taken = text.substr(next.offset, at - next.offset);
    rows.push_back(next);
    next = {.line = next.line + std::ranges::count(taken, '\n')};
  }
  // A footer is rejected later, with its line.
  const auto has_columns = [](const ScannedRow& row) { return row.cells.size() > 1; };
  const auto last = std::find_if(rows.rbegin(), rows.rend(), has_columns);
  if (last != rows.rend() && rows.size() < kMostRows && rows.rend() - last > std::ssize(rows) / 2)
    rows.erase(last.base(), rows.end());
  return rows;
}

/// Whether cells are "", 0, 1, ..., as pandas numbers unnamed columns.
bool counts_from_zero(std::vector<std::string_view> cells) {
  while (cells.size() > 1 && cells.back().empty()) cells.pop_back();
  for (std::size_t i = 1; i < cells.size(); ++i)
    if (cells[i] != std::to_string(i - 1)) return false;
  return cells.size() > 1 && cells[0].empty();
}

/// Whether the rows from a given one form a table with as many columns as that row has cells.
bool is_table_from(const std::vector<ScannedRow>& rows, std::size_t first) {
  const std::size_t columns = rows[first].cells.size();
  return std::all_of(
      rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
      [&](const ScannedRow& row) { return row.filled() <= columns && columns <= row.cells.size(); });
}

/// Whether the first cells of the rows form an index: words, dates, or numbers that count up.
bool is_index(const std::vector<ScannedRow>& rows) {
  double before = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].cells[0].empty()) return false;
    const auto number = parse_number(rows[i].cells[0]);
    if (number && i > 1 && *number != before + 1) return false;
    if (number && i == 1 && *number != 0 && *number != 1) return false;
    if (!number && parse_number(rows[i].cells[0], ',')) return false;
    before = number.value_or(0);
  }
  return true;
}

/// Whether the first row lacks a name for the first column.
bool lacks_index(const std::vector<ScannedRow>& rows) {
  if (rows.size() <= kFewestRows) return false;
  const std::size_t names = rows[0].cells.size();
  const bool is_one_less = std::all_of(rows.begin() + 1, rows.end(),
                                       [&](const ScannedRow& row) { return row.cells.size() == names + 1; });
  const bool is_filled =
      std::any_of(rows.begin() + 1, rows.end(), [&](const ScannedRow& row) { return row.filled() > names; });
  if (!is_one_less || !is_filled || !rows[1].has_value() || !is_index(rows)) return false;
  if (!rows[0].has_value()) return true;
  for (std::size_t i = 0; i < names; ++i)
    if (rows[0].cells[i] != std::to_string(i)) return false;
  return true;
}

/// Whether the comment above a row contains the names of its cells.
bool has_names_above(std::string_view text, const ScannedRow& row, char separator) {
  if (row.comment == text.npos || !row.has_value()) return false;
  std::size_t at = std::min(text.find_first_not_of("# \t", row.comment), text.size());
  const ScannedRow names{.cells = take_row(text, at, separator)};
  const std::size_t cells = row.cells.size() - (row.cells.back().empty() ? 1 : 0);
  return (names.cells.size() == row.cells.size() || names.cells.size() == cells) && names.cells.size() > 1 &&
         names.filled() == names.cells.size() && !names.has_value();
}

/// The first row of a table with names, below lines with other numbers of cells; 0: there are no such lines.
std::size_t end_of_preamble(std::string_view text, const std::vector<ScannedRow>& rows, char separator) {
  for (std::size_t first = 1; first <= kLongestPreamble && first + kFewestRows <= rows.size(); ++first) {
    const std::size_t columns = rows[first].cells.size();
    if (columns < 2 || !is_table_from(rows, first)) continue;
    // Rows of the table above the names would be lost, and a table without names could have lost its own.
    const auto is_row = [&](const ScannedRow& row) {
      const bool is_of_values = row.filled() > 1 && std::ranges::all_of(row.cells, [](std::string_view cell) {
                                  return cell.empty() || is_value(cell);
                                });
      return is_of_values || (row.cells.size() == columns && row.has_value());
    };
    const bool has_rows_above =
        std::any_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(first), is_row);
    const bool is_named = !rows[first].has_value() || counts_from_zero(rows[first].cells);
    const bool has_names = !is_named ? has_names_above(text, rows[first], separator)
                                     : rows[first + 1].may_have_value() || rows[first + 2].may_have_value();
    return has_names && !has_rows_above ? first : 0;
  }
  return 0;
}

void pass_line(std::string_view text, TableStart& start) {
  start.offset = std::min(start.offset + line_at(text, start.offset).size() + 1, text.size());
  ++start.line;
}

/// Reads "sep=;", and moves the start past it.
void take_separator(std::string_view text, const TableOptions& options, TableStart& start,
                    std::vector<std::string>& notes) {
  std::string_view line = line_at(text, start.offset);
  line = line.substr(0, line.find_last_not_of(" \r") + 1);
  if (line.size() > 1 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  if (line.size() != 5 || (line[0] | 0x20) != 's' || (line[1] | 0x20) != 'e' || (line[2] | 0x20) != 'p' ||
      line[3] != '=' || std::string_view(",;\t|").find(line[4]) == std::string_view::npos)
    return;
  notes.push_back(text_of("line ", start.line, " says that ",
                          line[4] == '\t' ? "tabs" : std::string(1, line[4]), " separates columns"));
  if (options.separator == 0) start.separator = line[4];
  pass_line(text, start);
}

}  // namespace

TableStart find_table_start(std::string_view text, const TableOptions& options,
                            std::vector<std::string>& notes) {
  TableStart top{.offset = text.starts_with("\xEF\xBB\xBF") ? std::size_t{3} : 0,
                 .separator = options.separator};
  for (std::int64_t i = 0; i < options.skip_rows && top.offset < text.size(); ++i) pass_line(text, top);
  if (options.skip_rows >= 0) return top;
  top.allows_comments = true;
  take_separator(text, options, top, notes);
  std::vector<char> separators = {';', '\t', '|', ','};
  if (top.separator != 0) separators = {top.separator};
  const bool has_quotes = text.substr(0, 1 << 16).find('"') != text.npos;
  TableStart start = top;
  std::size_t above = kMostRows, columns = 0;
  for (const char separator : separators) {
    if (separator == options.decimal && !has_quotes) continue;
    const std::vector<ScannedRow> rows = rows_of(text, top, separator);
    if (rows.empty()) return top;
    const bool is_table = is_table_from(rows, 0);
    const bool lacks_one = !is_table && lacks_index(rows);
    const std::size_t first = is_table || lacks_one ? 0 : end_of_preamble(text, rows, separator);
    // A single column is what any wrong separator makes of a table.
    const bool fits = is_table ? rows[0].cells.size() > 1 : lacks_one || first > 0;
    const ScannedRow& row = rows[fits ? first : 0];
    const std::size_t rank = fits ? first : kMostRows - 1;
    if (rank > above || (rank == above && (separator == ',' || row.cells.size() <= columns))) continue;
    above = rank;
    columns = row.cells.size();
    start = {.offset = row.offset,
             .line = row.line,
             .separator = top.separator,
             .lacks_index = lacks_one,
             .allows_comments = true};
    if (!fits) continue;
    if (first > 0 || lacks_one) start.separator = separator;
    if (!has_names_above(text, row, separator)) continue;
    start.separator = separator;
    start.line = row.comment_line;
    const bool is_own_name =
        row.comment == top.offset && text.substr(row.comment + 1, 1).find_first_of(" \t") != 0;
    start.offset = is_own_name ? row.comment : text.find_first_not_of("# \t", row.comment);
  }
  if (!trimmed(text.substr(top.offset, start.offset - top.offset)).empty() && start.line > top.line)
    notes.push_back(text_of(start.line == top.line + 1 ? "line " : text_of("lines ", top.line, " to "),
                            start.line - 1, " above the table passed over (skip_rows)"));
  if (start.lacks_index)
    notes.push_back(text_of("line ", start.line, " has no name for the first column, which is the index"));
  return start;
}

}  // namespace lagtape
