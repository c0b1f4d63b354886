#include "lagtape/data/table/text_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "lagtape/core/error.h"

namespace lagtape {

/// Reads a text row by row. It replaces doubled quotes by single ones in place, unless it only peeks.
class TextTable::Reader {
 public:
  Reader(std::string& text, char separator, bool is_peek, std::string_view where, const TableStart& start)
      : text_(text),
        separator_(separator),
        is_peek_(is_peek),
        where_(where),
        at_(start.offset),
        line_(start.line) {
    if (at_ == 0 && text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  /// Appends the cells of a row. Returns their number, 0 at the end of the text; blank lines are skipped.
  std::int64_t read_row(std::vector<Cell>& cells) {
    const std::size_t before = cells.size();
    while (at_ < text_.size()) {
      first_line_ = line_;
      while (read_cell(cells)) {
      }
      const Cell& last = cells.back();
      const bool is_quoted = last.first > 0 && text_[last.first - 1] == '"';
      if (cells.size() - before > 1 || last.size > 0 || is_quoted)
        return static_cast<std::int64_t>(cells.size() - before);
      cells.pop_back();
      ++blank_lines_;
    }
    return 0;
  }

  std::int64_t line() const { return first_line_; }
  /// The number of blank lines skipped.
  std::int64_t blank_lines() const { return blank_lines_; }
  /// The number of bytes read.
  std::size_t at() const { return at_; }

 private:
  bool is_blank(char c) const { return (c == ' ' || c == '\t' || c == '\r') && c != separator_; }

  /// Moves to the end of an unquoted cell, eight bytes at a time. Subtracting one from each byte sets the
  /// highest bit of the first zero byte, and of other bytes only after it (Mycroft 1987).
  void skip_cell(const char* text, std::size_t size) {
    constexpr std::uint64_t kOnes = 0x0101010101010101, kHighest = 0x8080808080808080;
    const auto zeros = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes & kHighest; };
    const std::uint64_t separators = kOnes * static_cast<unsigned char>(separator_), ends = kOnes * '\n';
    std::size_t at = at_;
    if constexpr (std::endian::native == std::endian::little)
      for (std::uint64_t bytes = 0; at + sizeof bytes <= size; at += sizeof bytes) {
        std::memcpy(&bytes, text + at, sizeof bytes);
        const std::uint64_t found = zeros(bytes ^ separators) | zeros(bytes ^ ends);
        if (found == 0) continue;
        at_ = at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
        return;
      }
    while (at < size && text[at] != separator_ && text[at] != '\n') ++at;
    at_ = at;
  }

  /// Reads a cell and what ends it. Returns whether the row has another cell.
  bool read_cell(std::vector<Cell>& cells) {
    const char* const text = text_.data();
    const std::size_t size = text_.size();
    while (at_ < size && is_blank(text[at_])) ++at_;
    const bool is_quoted = at_ < size && text[at_] == '"';
    const Cell quoted = is_quoted ? read_quoted() : Cell{};
    const std::size_t first = at_;
    skip_cell(text, size);
    std::size_t end = at_;
    while (end > first && is_blank(text[end - 1])) --end;
    if (is_quoted) {
      const std::size_t rest = text_.find_first_not_of(" \t\r", first);
      if (rest < end)
        throw unexpected({std::string(where_), line_}, Rule::syntax, "a separator after the quotes",
                         text_of("'", text_.substr(rest, std::min<std::size_t>(end - rest, 40)), "'"));
    }
    cells.push_back(is_quoted ? quoted : cell(first, end));
    if (at_ == size) return false;
    const bool ends_row = text[at_++] == '\n';
    line_ += ends_row ? 1 : 0;
    return !ends_row;
  }

  Cell cell(std::size_t first, std::size_t end) const {
    constexpr std::size_t kLargest = (std::size_t{1} << 24) - 1;
    if (end - first > kLargest)
      throw InputError({std::string(where_), line_}, Rule::out_of_range, "a cell above 16 MiB.");
    return {.first = first, .size = end - first};
  }

  Cell read_quoted() {
    const std::int64_t opened = line_;
    const std::size_t first = ++at_;
    std::size_t end = first;  // of the cell, which is shorter than what was read if quotes were doubled
    for (; at_ < text_.size(); ++at_, ++end) {
      if (text_[at_] == '"') {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') {
          ++at_;
          return cell(first, end);
        }
        ++at_;
      }
      line_ += text_[at_] == '\n' ? 1 : 0;
      if (!is_peek_) text_[end] = text_[at_];
    }
    throw InputError({std::string(where_), opened}, Rule::syntax,
                     "nothing closes the quotes that begin here.");
  }

  std::string& text_;
  char separator_;
  bool is_peek_;
  std::string_view where_;
  std::size_t at_;
  std::int64_t line_, first_line_ = 1, blank_lines_ = 0;
};

/// The number of cells into which a separator splits each of the first lines if it is the same for all, else 0.
std::int64_t TextTable::equal_cells(char separator, int lines, const TableStart& start) try {
  Reader reader(text_, separator, true, "", start);
  std::vector<Cell> row;
  std::int64_t cells = 0;
  for (int line = 0; line < lines; ++line, row.clear()) {
    const std::int64_t found = reader.read_row(row);
    if (found == 0) break;
    if (cells != 0 && found != cells) return 0;
    cells = found;
  }
  return cells;
} catch (const InputError&) {
  return 0;  // quotes that appear at the start of a cell only with another separator
}

void TextTable::find_separator(char decimal, const TableStart& start) {
  const bool has_quotes = text_.find('"') != std::string::npos;
  for (const int lines : {20, 1}) {  // a row that is too short or too long is reported later
    separator_ = decimal == ',' ? ';' : ',';
    std::int64_t most = 1;
    for (const char separator :
         {';', '\t', '|', ','}) {  // commas may be decimal points in an equal number of numbers
      if (separator == ',' && (most > 1 || (decimal == ',' && !has_quotes))) continue;
      const std::int64_t cells = equal_cells(separator, lines, start);
      if (cells <= most) continue;
      separator_ = separator;
      most = cells;
    }
    if (most > 1) return;
  }
}

/// Reserves space for all rows, estimated from the size of the first ones: a growing vector would use up to
/// twice the memory.
void TextTable::reserve(std::size_t bytes) {
  const std::size_t most = static_cast<std::size_t>(1.02 * kSample * text_.size() / bytes) + kSample;
  lines_.reserve(most);
  rows_.reserve(most);
  cells_.reserve(most * static_cast<std::size_t>(columns_));
}

void TextTable::add_row(const std::vector<Cell>& row, std::int64_t line) {
  constexpr std::uint64_t kFarthest = (1 << 22) - 1;
  const std::uint64_t begin = row.front().first;
  for (const Cell& cell : row) {
    const std::uint64_t behind = cell.first - begin;
    const bool is_long = cell.size >= kLong || behind > kFarthest;
    if (is_long) long_cells_.emplace_back(cells_.size(), cell);
    cells_.push_back({.behind = static_cast<std::uint32_t>(is_long ? 0 : behind),
                      .size = is_long ? kLong : static_cast<std::uint32_t>(cell.size)});
  }
  rows_.push_back(begin);
  lines_.push_back(static_cast<std::uint32_t>(line));
}

std::string_view TextTable::long_cell(std::size_t index) const {
  const Cell& cell =
      std::ranges::lower_bound(long_cells_, index, {}, &std::pair<std::size_t, Cell>::first)->second;
  return {text_.data() + cell.first, cell.size};
}

TextTable::TextTable(std::string text, const std::string& where, char separator, char decimal,
                     const TableStart& start)
    : text_(std::move(text)), separator_(start.separator != 0 ? start.separator : separator) {
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    throw InputError({where}, Rule::wrong_type, "the text is UTF-16", {}, "Save it as UTF-8.");
  if (separator_ == 0) find_separator(decimal, start);
  Reader reader(text_, separator_, false, where, start);
  std::int64_t above = 0;  // blank lines
  for (std::vector<Cell> row; std::int64_t found = reader.read_row(row); row.clear()) {
    if (columns_ == 0 && start.lacks_index) {
      row.insert(row.begin(), Cell{.first = row.front().first});
      ++found;
    }
    if (columns_ == 0) columns_ = found;
    if (columns_ > 1 && found == 1 && row.back().size == 0) continue;  // "" alone
    for (; found > columns_ && row.back().size == 0; --found) row.pop_back();
    if (found != columns_) {
      if (start.allows_comments && row.front().size > 0 && text_[row.front().first] == '#') {
        ++comments_;
        continue;
      }
      constexpr const char* kDecimalCommas =
          "The file has one column, in which commas may be decimal points: in an experiment \"decimal\": "
          "\",\" says so.";
      std::string hint = columns_ == 1 && separator_ == ',' ? kDecimalCommas : "";
      if (start.allows_comments && rows() < 100)
        hint += text_of(hint.empty() ? "" : " ",
                        R"(Lines above the table are passed over with "skip_rows": N in "data".)");
      throw unexpected({where, reader.line()}, Rule::shape,
                       text_of(columns_, columns_ == 1 ? " cell" : " cells", " as in the first row"),
                       text_of(found), hint);
    }
    if (rows() > 0) blank_lines_ = reader.blank_lines() - above;
    if (rows() == 0) above = reader.blank_lines();
    add_row(row, reader.line());
    if (rows() == kSample) reserve(reader.at());
  }
  if (columns_ == 0) throw InputError({where}, Rule::missing, "contains no rows.");
  drop_empty_end();
}

void TextTable::drop_empty_end() {
  const auto is_empty = [](std::string_view cell) { return cell.empty(); };
  while (columns_ > 1 && rows() > 1 && std::ranges::all_of(row(rows() - 1), is_empty)) {
    rows_.pop_back();
    lines_.pop_back();
    cells_.resize(cells_.size() - static_cast<std::size_t>(columns_));
  }
}

bool TextTable::has_blanks_around(std::int64_t row, std::int64_t column) const {
  const std::string_view text = text_, own = cell(row, column);
  const std::size_t begin = static_cast<std::size_t>(own.data() - text.data()), end = begin + own.size();
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  return (begin > 0 && begin <= text.size() && is_blank(text[begin - 1])) ||
         (end < text.size() && is_blank(text[end]));
}

std::vector<std::string_view> TextTable::row(std::int64_t row) const {
  std::vector<std::string_view> cells;
  for (std::int64_t column = 0; column < columns_; ++column) cells.push_back(cell(row, column));
  return cells;
}

}  // namespace lagtape
