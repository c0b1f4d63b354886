#include "lagtape/data/formats/table_file.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

struct Own {
  explicit Own(const std::string& name, const std::string& bytes) : path(folder.path() / name) {
    write_sample(path, bytes);
  }
  NamedTable table() const { return read_table_file(path, {}); }
  std::string message() const {
    return input_error_of([&] { table(); });
  }
  TemporaryFolder folder;
  std::filesystem::path path;
};

std::string utf16(const std::string& text, bool is_big) {
  std::string bytes;
  for (const char c : text) bytes += is_big ? std::string{'\0', c} : std::string{c, '\0'};
  return bytes;
}

}  // namespace

TEST_CASE("tables are known by their names") {
  for (const char* name : {"a.csv", "A.CSV", "a.csv.gz", "a.tsv", "a.tsf", "a.txt.gz"})
    CHECK(is_table_file(name));
  for (const char* name : {"a.npz", "a.gz", "csv", "a.json"}) CHECK_FALSE(is_table_file(name));
}

TEST_CASE("texts of other encodings are read, and said") {
  const Own latin("a.csv",
                  "Zeit;Gr\xF6\xDF"
                  "e \x80\n1;2\n");
  CHECK(latin.table().names()[1] == "Größe €");
  REQUIRE(latin.table().notes().size() == 1);
  CHECK(latin.table().notes()[0] == "the text is Windows-1252, read as UTF-8");
  CHECK(Own("a.csv", "Zeit;Gr\xF6\x81\n1;2\n").table().notes()[0] == "the text is Latin-1, read as UTF-8");
  for (const bool is_big : {false, true}) {
    const std::string mark = is_big ? "\xFE\xFF" : "\xFF\xFE";
    for (const std::string& begin : {mark, std::string()}) {
      const Own wide("a.csv", begin + utf16("time,value\n1,25\n", is_big));
      CHECK(wide.table().names() == std::vector<std::string>{"time", "value"});
      CHECK(wide.table().cell(0, 1) == "25");
      CHECK(wide.table().notes()[0] == "the text is UTF-16, read as UTF-8");
    }
  }
  CHECK(has(Own("a.csv",
                "\xFF\xFE"
                "a\n1")
                .message(),
            "is not UTF-16LE at byte "));
  CHECK(Own("a.csv", "Zeit;Größe\n1;2\n").table().notes().empty());
}

TEST_CASE("packed tables and tables of tabs are read") {
  CHECK(Own("a.csv.gz", gzip("a,b\n1,2\n")).table().cell(0, 1) == "2");
  CHECK(Own("a.tsv", "a, x\tb\n1\t2\n").table().names()[0] == "a, x");
  CHECK(has(Own("a.csv.gz", gzip("a,b\n1,2\n").substr(0, 20)).message(), "a.csv.gz: "));
}

TEST_CASE("a .tsf file is a long table") {
  const char* const kHeader =
      "# Monash\n@relation r\n@attribute series_name string\n@attribute start_timestamp date\n";
  const Own monthly(
      "a.tsf", text_of(kHeader, "@frequency monthly\n@horizon 2\n@data\nT1:2020-11-30 00-00-00:1,2,?,4.5\n",
                       "T2:2019-01-01 00-00-00:7\n"));
  const NamedTable table = monthly.table();
  CHECK(table.names() == std::vector<std::string>{"series_name", "time", "value"});
  CHECK(table.rows() == 5);
  CHECK(table.cell(2, 1) == "2021-01-31");
  CHECK(table.cell(3, 1) == "2021-02-28");
  CHECK(table.cell(2, 2) == "?");
  CHECK(table.cell(4, 0) == "T2");
  CHECK(table.notes()[0] == "2 series, monthly, forecast over 2 steps");
  const Own half("a.tsf", text_of(kHeader, "@frequency half_hourly\n@data\nT1:2020-01-01 00-00-00:1,2\n"));
  CHECK(half.table().cell(1, 1) == "2020-01-01 00:30:00");
  CHECK(Own("a.tsf", "@attribute n string\n@data\na:1,2\n").table().names() ==
        std::vector<std::string>{"n", "value"});
  CHECK(has(Own("a.tsf", text_of(kHeader, "@frequency sometimes\n")).message(),
            "line 5: expected a frequency such as"));
  CHECK(has(Own("a.tsf", text_of(kHeader, "@data\nT1:2020-01-01 00-00-00:1\n")).message(),
            "expected @frequency"));
  CHECK(has(Own("a.tsf", text_of(kHeader, "@frequency daily\n@data\nT1:soon:1\n")).message(),
            "line 7: expected a start time such as 1979-01-01 00-00-00, got 'soon'"));
  CHECK(has(Own("a.tsf", text_of(kHeader, "@frequency daily\n@data\nT1\n")).message(),
            "expected 2 attributes"));
  CHECK(has(Own("a.tsf", text_of(kHeader, "@frequency daily\n@data\nT1:2020-01-01 00-00-00:1,x\n")).message(),
            "expected a number, got 'x'"));
  CHECK(has(
      Own("a.tsf", text_of(kHeader, "@frequency yearly\n@data\nT1:2261-01-01 00-00-00:1,2,3\n")).message(),
      "a.tsf: line 7: times are of the years 1678 to 2261"));
  CHECK(has(Own("a.tsf", kHeader).message(), "contains no series"));
}

TEST_CASE("tables that only Python reads are refused with the way") {
  CHECK(input_error_of([] { refuse_foreign_table("data/load.parquet"); }) ==
        "data/load.parquet: expected a text table, such as .csv, got a .parquet file. Python makes one: "
        "pandas.read_parquet(\"load.parquet\").to_csv(\"load.csv\", index=False)");
  CHECK(has(input_error_of([] { refuse_foreign_table("load.XLSX"); }), "read_excel"));
  refuse_foreign_table("load.csv");
}
