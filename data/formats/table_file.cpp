#include "lagtape/data/formats/table_file.h"

#include <algorithm>
#include <array>

#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/io/file.h"
#include "lagtape/data/formats/given_files.h"
#include "lagtape/data/formats/gzip.h"
#include "lagtape/data/formats/text_encoding.h"
#include "lagtape/data/formats/tsf_file.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

/// ".csv" of "LOAD.csv.gz".
std::string unpacked_ending(const fs::path& path) {
  const std::string ending = ending_of(path);
  return ending == ".gz" ? ending_of(path.stem()) : ending;
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
  if (is_tsf_file(path)) {
    text = long_table_of_tsf(text, where, notes);
    TableOptions plain{.separator = ',', .skip_rows = 0};
    plain.missing_codes = options.missing_codes;
    plain.codes_by_column = options.codes_by_column;
    return parse_table(std::move(text), where, plain, std::move(notes));
  }
  TableOptions given = options;
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
