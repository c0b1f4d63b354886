#include "lagtape/data/formats/table_file.h"

#include <algorithm>
#include <array>

#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/text.h"
#include "lagtape/data/formats/given_files.h"
#include "lagtape/data/formats/gzip.h"
#include "lagtape/data/formats/text_encoding.h"
#include "lagtape/data/formats/tsf_file.h"
#include "lagtape/data/table/number.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

/// ".csv" of "LOAD.csv.gz".
std::string unpacked_ending(const fs::path& path) {
  const std::string ending = ending_of(path);
  return ending == ".gz" ? ending_of(path.stem()) : ending;
}

/// Lines that end as in old Macintosh programs.
bool make_line_feeds(std::string& text) {
  if (text.find('\n') != text.npos || text.find('\r') == text.npos) return false;
  std::ranges::replace(text, '\r', '\n');
  return true;
}

/// The cells of a line separated by runs of at least this many blanks.
std::vector<std::string_view> cells_between_blanks(std::string_view line, std::size_t blanks) {
  std::vector<std::string_view> cells;
  for (line = trimmed(line); !line.empty();) {
    std::size_t end = line.find(' ');
    while (end != line.npos && line.find_first_not_of(' ', end) - end < blanks)
      end = line.find(' ', line.find_first_not_of(' ', end));
    cells.push_back(line.substr(0, end));
    line = end == line.npos ? std::string_view() : trimmed(line.substr(end));
  }
  return cells;
}

/// Replaces blanks by tabs in a table that has no other separator. With single blanks, all columns except the
/// first must be numbers.
bool make_tabs(std::string& text) {
  constexpr std::size_t kMostLines = 50, kFewestLines = 4;
  std::vector<std::string_view> lines;
  for (std::string_view rest = text; !rest.empty() && lines.size() < kMostLines;) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (const std::string_view line = trimmed(rest.substr(0, end)); !line.empty()) lines.push_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (lines.size() < kFewestLines || lines.front().find(' ') == std::string_view::npos) return false;
  for (const std::string_view line : lines)
    if (line.find_first_of(",;\t|\"#") != line.npos) return false;
  const auto is_table_of = [&](std::size_t blanks) {
    const std::size_t columns = cells_between_blanks(lines.front(), blanks).size();
    return columns > 1 && std::all_of(lines.begin() + 1, lines.end(), [&](std::string_view line) {
             const std::vector<std::string_view> cells = cells_between_blanks(line, blanks);
             return cells.size() == columns &&
                    (blanks > 1 || std::all_of(cells.begin() + 1, cells.end(), [](std::string_view cell) {
                       return is_missing(cell) || parse_number(cell);
                     }));
           });
  };
  const std::size_t blanks = is_table_of(2) ? 2 : is_table_of(1) ? 1 : 0;
  if (blanks == 0) return false;
  std::string with_tabs;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view tab = "";
    for (const std::string_view cell : cells_between_blanks(rest.substr(0, end), blanks)) {
      with_tabs += text_of(tab, cell);
      tab = "\t";
    }
    with_tabs += '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  text = std::move(with_tabs);
  return true;
}

}  // namespace

bool is_table_file(const fs::path& path) {
  constexpr std::array<std::string_view, 4> kEndings = {".csv", ".tsv", ".txt", ".tsf"};
  return std::ranges::find(kEndings, unpacked_ending(path)) != kEndings.end();
}

bool is_tsf_file(const fs::path& path) { return unpacked_ending(path) == ".tsf"; }

NamedTable read_table_file(const fs::path& path, const TableOptions& options) {
  if (std::shared_ptr<const ColumnTable> given = given_table(path))
    return {std::move(given), path.stem().string()};
  const std::string where = path.string();
  std::string text = read_file(path);
  if (is_gzip(text)) text = gunzip(text, where);
  std::vector<std::string> notes;
  if (const std::string encoding = make_utf8(text, where); !encoding.empty())
    notes.push_back(text_of("the text is ", encoding, ", read as UTF-8"));
  if (make_line_feeds(text)) notes.emplace_back("lines end in carriage returns alone");
  if (is_tsf_file(path)) {
    text = long_table_of_tsf(text, where, notes);
    TableOptions plain{.separator = ',', .skip_rows = 0};
    plain.missing_codes = options.missing_codes;
    plain.codes_by_column = options.codes_by_column;
    return parse_table(std::move(text), where, plain, std::move(notes));
  }
  TableOptions given = options;
  if (given.separator == 0 && given.skip_rows < 0 && make_tabs(text)) {
    given.separator = '\t';
    notes.emplace_back("blanks separate columns");
  }
  if (unpacked_ending(path) == ".tsv" && given.separator == 0) given.separator = '\t';
  return parse_table(std::move(text), where, given, std::move(notes));
}

void refuse_foreign_table(const fs::path& path) {
  struct Foreign {
    std::string_view ending, reader;
  };
  constexpr Foreign kForeign[] = {
      {".parquet", "read_parquet"}, {".xlsx", "read_excel"}, {".xls", "read_excel"}, {".ods", "read_excel"},
      {".feather", "read_feather"}, {".pkl", "read_pickle"}, {".h5", "read_hdf"}};
  for (const auto& [ending, reader] : kForeign)
    if (ending_of(path) == ending)
      throw InputError(
          Problem{.place = {.file = path.string()},
                  .rule = Rule::not_supported,
                  .found = text_of("a ", ending, " file"),
                  .expected = "a text table, such as .csv",
                  .hint = text_of("Python makes one: pandas.", reader, "(\"", path.filename().string(),
                                  "\").to_csv(\"", path.stem().string(), ".csv\", index=False)")});
}

}  // namespace lagtape
