#include "lagtape/data/formats/text_table.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

constexpr std::string_view kSeparators = ",;\t|";

/// Reads cell after cell.
class TableReader {
 public:
  TableReader(TextTable& table, std::string_view text, std::string where)
      : table_(table), text_(text), where_(std::move(where)) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  /// Reads a row into `row`. Returns false at the end of the text; blank lines are passed over.
  bool read_row(std::vector<std::string_view>& row) {
    do {
      if (at_ == text_.size()) return false;
      row.clear();
      first_line_ = line_;
      while (read_cell(row)) {
      }
    } while (row.size() == 1 && row[0].empty());
    return true;
  }

  std::int64_t line() const { return first_line_; }

 private:
  bool is_blank(char c) const { return (c == ' ' || c == '\t' || c == '\r') && c != table_.separator; }

  std::string_view trimmed(std::string_view cell) const {
    while (!cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
    while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
    return cell;
  }

  /// Reads a cell and what ends it. Returns whether the row goes on.
  bool read_cell(std::vector<std::string_view>& row) {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const bool quoted = at_ < text_.size() && text_[at_] == '"';
    std::string_view cell;
    if (quoted) cell = read_quoted();
    const std::size_t end = std::min(text_.find_first_of(ends_, at_), text_.size());
    const std::string_view rest = trimmed(text_.substr(at_, end - at_));
    if (quoted && !rest.empty())
      throw InputError(text_of(where_, ": line ", line_, ": expected a separator after the quotes, got '",
                               rest.substr(0, 40), "'."));
    row.push_back(quoted ? cell : rest);
    at_ = end;
    if (at_ == text_.size()) return false;
    const bool goes_on = text_[at_] != '\n';
    line_ += goes_on ? 0 : 1;
    ++at_;
    return goes_on;
  }

  std::string_view read_quoted() {
    const std::int64_t opened = line_;
    const std::size_t first = ++at_;
    bool doubled = false;
    for (; at_ < text_.size(); ++at_) {
      line_ += text_[at_] == '\n' ? 1 : 0;
      if (text_[at_] != '"') continue;
      if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') break;
      doubled = true;
      ++at_;
    }
    if (at_ >= text_.size())
      throw InputError(text_of(where_, ": line ", opened, ": nothing closes the quotes that begin here."));
    const std::string_view inside = text_.substr(first, at_ - first);
    ++at_;
    return doubled ? without_doubled_quotes(inside) : inside;
  }

  std::string_view without_doubled_quotes(std::string_view inside) {
    std::string& cell = table_.quoted->emplace_back();
    for (std::size_t i = 0; i < inside.size(); ++i) {
      cell += inside[i];
      if (inside[i] == '"') ++i;
    }
    return cell;
  }

  TextTable& table_;
  std::string_view text_;
  std::string where_;
  std::string ends_ = {table_.separator, '\n'};
  std::size_t at_ = 0;
  std::int64_t line_ = 1, first_line_ = 1;
};

/// The number of cells that a separator makes of each of the first lines if it is the same for all, else 0.
std::size_t equal_cells(std::string_view text, char separator, int lines) try {
  TextTable table{.separator = separator, .text = {}, .quoted = std::make_shared<std::deque<std::string>>()};
  TableReader reader(table, text, "");
  std::vector<std::string_view> row;
  std::size_t cells = 0;
  for (int line = 0; line < lines && reader.read_row(row); ++line) {
    if (cells != 0 && row.size() != cells) return 0;
    cells = row.size();
  }
  return cells;
} catch (const InputError&) {
  return 0;  // quotes that only another separator leaves at the beginning of a cell
}

char separator_of(std::string_view text, char decimal) {
  const bool has_quotes = text.find('"') != std::string_view::npos;
  for (const int lines : {20, 1}) {  // a row that is too short or too long is found later
    char best = ',';
    std::size_t most = 1;
    for (const char separator : kSeparators) {
      if (separator == decimal && !has_quotes) continue;
      const std::size_t cells = equal_cells(text, separator, lines);
      if (cells <= most) continue;
      best = separator;
      most = cells;
    }
    if (most > 1) return best;
  }
  return decimal == ',' ? ';' : ',';
}

constexpr const char* kDecimalCommas =
    " The file has one column, in which commas may be decimal points: in an experiment \"decimal\": \",\" "
    "says so.";

}  // namespace

TextTable parse_text_table(std::string text, const std::string& where, char separator, char decimal) {
  TextTable table{.text = std::make_shared<const std::string>(std::move(text)),
                  .quoted = std::make_shared<std::deque<std::string>>()};
  if (table.text->starts_with("\xFF\xFE") || table.text->starts_with("\xFE\xFF"))
    throw InputError(text_of(where, ": the text is UTF-16. Save it as UTF-8."));
  table.separator = separator == 0 ? separator_of(*table.text, decimal) : separator;
  TableReader reader(table, *table.text, where);
  std::vector<std::string_view> row;
  while (reader.read_row(row)) {
    if (table.columns == 0) table.columns = std::ssize(row);
    while (std::ssize(row) > table.columns && row.back().empty()) row.pop_back();
    if (std::ssize(row) != table.columns) {
      throw InputError(text_of(where, ": line ", reader.line(), ": expected ", table.columns,
                               table.columns == 1 ? " cell" : " cells", " as in the first row, got ",
                               row.size(), ".",
                               table.columns == 1 && table.separator == ',' ? kDecimalCommas : ""));
    }
    table.cells.insert(table.cells.end(), row.begin(), row.end());
    table.lines.push_back(reader.line());
  }
  if (table.columns == 0) throw InputError(text_of(where, ": contains no rows."));
  return table;
}

}  // namespace lagtape
