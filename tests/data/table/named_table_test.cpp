#include "lagtape/data/table/named_table.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

using Names = std::vector<std::string>;

NamedTable table_of(const std::string& text, const TableOptions& options = {}) {
  return parse_table(text, "own.csv", options);
}

/// "names | first row | number of rows"
std::string seen(const std::string& text, const TableOptions& options = {}) {
  const NamedTable table = table_of(text, options);
  std::string names, row;
  for (const std::string& name : table.names()) names += name + ";";
  for (std::int64_t i = 0; i < table.columns(); ++i) row += std::string(table.cell(0, i)) + ";";
  return text_of(names, " | ", row, " | ", table.rows());
}

bool notes(const std::string& text, const std::string& words) {
  const NamedTable table = table_of(text);
  for (const std::string& note : table.notes())
    if (has(note, words)) return true;
  return false;
}

/// Rows of `columns` numbers that count up, with a separator.
std::string numbers(int rows, int columns, char separator = ',', const std::string& end = "") {
  std::string text;
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < columns; ++i)
      text += text_of(i > 0 ? std::string(1, separator) : "", 10 * row + 3 * i + 5, end);
    text += '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("a line sep=; says the separator") {
  for (const char* line : {"sep=;\n", "SEP=;\r\n", "\"sep=;\"\n", "\xEF\xBB\xBFsep=;\n"})
    CHECK(seen(text_of(line, "a;b\n1,5;2\n2,5;3\n"), {.decimal = ','}) == "a;b; | 1,5;2; | 2");
  CHECK(seen("sep=\t\na\tb\n1\t2\n") == "a;b; | 1;2; | 1");
  CHECK(notes("sep=;\na;b\n1;2\n", "line 1 says that ; separates columns"));
  CHECK(seen("sep=;\na\n1\n2\n") == "a; | 1; | 2");
  CHECK(seen("sep=;,b\n1,2\n") == "sep=;;b; | 1;2; | 1");  // a name
}

TEST_CASE("lines above a table are passed over, and said") {
  const std::string rows = numbers(6, 3), names = "a,b,c\n";
  const std::string wanted = "a;b;c; | 5;8;11; | 6";
  for (const char* above :
       {"# made by a logger\n", "Station: Berlin\n", "Station: Berlin\n\nExported 2024-01-01, by me\n\n",
        "# one\n# two, three\n\n", "Height;34 m\n", "one \"two\" three, four\n"}) {
    INFO(above);
    CHECK(seen(above + names + rows) == wanted);
    CHECK(notes(above + names + rows, "above the table passed over (skip_rows)"));
  }
  CHECK(table_of("Station\n\n" + names + rows).line(0) == 4);
  CHECK(seen("Station\n\nd;a;\n31/12/50;5,8 %;\n30/12/50;4,8 %;\n29/12/50;1 %;\n") ==
        "d;a; | 31/12/50;5,8 %; | 3");
  CHECK(seen("Report;;;\n;Date;a;b\n0;2024-01-02;1;2\n1;2024-01-03;1;2\n2;2024-01-04;1;2\n") ==
        ";Date;a;b; | 0;2024-01-02;1;2; | 3");
  CHECK(seen("Station,,\nHeight,34,\n" + names + rows) == wanted);  // as spreadsheets save it
  CHECK(seen("x;y\nexport\n" + std::string("a;b\n") + numbers(6, 2, ';', ",5")) == "a;b; | 5,5;8,5; | 6");
  CHECK(!notes(names + rows, "passed over"));
}

TEST_CASE("rows of names of which each is for several columns are joined") {
  const std::string rows = "2024-01-02,5,8,7,9\n2024-01-03,6,9,1,2\n2024-01-04,7,7,4,3\n";
  const std::string wanted = "Date;A x;A y;B x;B y; | 2024-01-02;5;8;7;9; | 3";
  CHECK(seen("Price,A,A,B,B\nTicker,x,y,x,y\nDate,,,,\n" + rows) == wanted);  // pandas
  CHECK(seen(",A,A,B,B\n,x,y,x,y\nDate,,,,\n" + rows) == wanted);
  CHECK(seen("Station,A,A,B,B\nDate,x,y,x,y\n" + rows) == wanted);
  CHECK(seen("Station,A,,B,\nDate,x,y,x,y\n" + rows) == wanted);  // merged cells of a spreadsheet
  CHECK(seen("Station,A,,B,\nDate,x,y,x,y\nUTC,MW,MW,degC,degC\n" + rows) == wanted);
  CHECK(seen(",A,A,B,B\n,x,y,x,y\n,q,q,q,q\nDate,,,,\n" + rows) == wanted);
  CHECK(notes(",A,A,B,B\n,x,y,x,y\n" + rows,
              "lines 1 to 2 are the names of the columns: , A x, A y, B x, B y"));
  // Words are none, nor are units, nor what leaves columns of one name.
  CHECK(seen("id,sky,sky\nr1,clear,rain\nr2,rain,rain\nr3,rain,clear\n") ==
        "id;sky;sky.1; | r1;clear;rain; | 3");
  CHECK(seen("Date,A,A,B,C\n,MW,MW,%,%\n" + rows) == "Date;A;A.1;B;C; | 2024-01-02;5;8;7;9; | 3");
  CHECK(seen("Date,A,B,C,D\nUTC,MW,MW,%,%\n" + rows) == "Date;A;B;C;D; | 2024-01-02;5;8;7;9; | 3");
}

TEST_CASE("a line of empty quotes is a row of a table of one column, a blank line is none and is said") {
  CHECK(seen("v\n1\n\"\"\n3\n") == "v; | 1; | 3");
  CHECK(seen("v\n1\n\n3\n\n") == "v; | 1; | 2");
  CHECK(notes("v\n1\n\n\n3\n\n", "2 blank lines among the rows passed over. A missing number is \"\" or NA"));
  CHECK(!notes("v\n1\n2\n\n", "blank"));
  CHECK(seen("a,b\n1,2\n\"\"\n3,4\n") == "a;b; | 1;2; | 2");
}

TEST_CASE("rows of numbers are never taken for lines above a table") {
  // A row in the middle is too short: it is an error, and the rows above it are not left out.
  CHECK(has(input_error_of([] { table_of("a,b,c\n" + numbers(6, 3) + "1,2\n" + numbers(30, 3)); }),
            "own.csv: line 8: expected 3 cells as in the first row, got 2."));
  CHECK(has(input_error_of([] { table_of(numbers(6, 3) + "a,b\n" + numbers(30, 2)); }),
            "line 7: expected 3 cells"));
  CHECK(has(input_error_of([] { table_of("a\n1,5\n2,7\n9,1\n3,3\n"); }), "line 2: expected 1 cell"));
  CHECK(has(input_error_of([] { table_of("a,b\n1,2,9\n4,5,6\n2,7,1\n8,8,8\n"); }),
            R"(Lines above the table are passed over with "skip_rows": N in "data".)"));
}

TEST_CASE("lines as wide as a table are passed over where it is clear which one has the names") {
  const std::string rows = "2024-01-01,5,8\n2024-01-02,6,9\n2024-01-03,7,7\n";
  const std::string wanted = "time;load;temp; | 2024-01-01;5;8; | 3";
  for (const char* above :
       {"Station,Berlin,10381\n", "Report,Energy,Germany\n", "Created,2024-05-01,logger\n",
        "Report,Energy,Germany\nMade,by,logger\n", "Title,,\nReport,Energy,Germany\n"}) {
    CHECK(seen(text_of(above, "time,load,temp\n", rows)) == wanted);
    CHECK(seen(text_of(above, "time,load,temp\nUTC,MW,degC\n", rows)) == wanted);
    CHECK(notes(text_of(above, "time,load,temp\n", rows), "the table begins with the names in line"));
  }
  CHECK(seen("time,load,temp\nUTC,MW,degC\n" + rows) == wanted);
  CHECK(notes("a,b,c\nUTC,MW,degC\n" + rows, R"(If it has the names: "skip_rows": 1)"));
  CHECK(seen("a,b,c\ntime,load,temp\nUTC,MW,degC\n" + rows, {.skip_rows = 0}).starts_with("a;b;c;"));
  const std::string asked =
      input_error_of([&] { table_of("Report,Energy,Germany\nMade,by,logger\na,b,c\n" + rows); });
  CHECK(has(asked, "own.csv: line 3: lines 1 to 3 are texts above numbers"));
  CHECK(has(asked, R"("skip_rows": 2 in "data" says that line 3 has them.)"));
  // A table that a logger wrote in two parts has its names twice, and no rows above the names.
  CHECK(seen("time,load,temp\n" + rows + "time,load,temp\n" + rows)
            .starts_with("time;load;temp; | 2024-01-01"));
}

TEST_CASE("a row may name the first column alone, as pandas writes an index below other names") {
  const std::string rows = "2024-01-01,5,8\n2024-01-02,6,9\n";
  CHECK(seen("Price,Close,High\nTicker,A,A\nDate,,\n" + rows) == "Date;Close;High; | 2024-01-01;5;8; | 2");
  CHECK(seen("x,Close,High\nDate,,\n" + rows) == "Date;Close;High; | 2024-01-01;5;8; | 2");
  CHECK(seen("x,Close,High\n2023-12-31,,\n" + rows).starts_with("x;Close;High; | 2023-12-31"));
}

TEST_CASE("skip_rows decides what is above a table") {
  CHECK(seen("1,2\na,b\n3,4\n", {.skip_rows = 1}) == "a;b; | 3;4; | 1");
  CHECK(seen("# a,b\n3,4\n", {.skip_rows = 0}) == "# a;b; | 3;4; | 1");
  CHECK(table_of("x\ny\n1,2\n", {.skip_rows = 2}).line(0) == 3);
}

TEST_CASE("the last comment above numbers may have the names") {
  CHECK(seen("# made\n# a,b\n1,2\n3,4\n") == "a;b; | 1;2; | 2");
  CHECK(seen("# a b\n1,2\n3,4\n") == " | 1;2; | 2");
  CHECK(seen("#a,b\n1,2\n3,4\n") == "#a;b; | 1;2; | 2");  // a name with #
  CHECK(seen("SOURCE: a station\n\n# STN,YYYYMMDD,   TG\n\n  260,19010101,  -5\n  260,19010102,  -7\n  "
             "260,19010103,  -9\n") == "STN;YYYYMMDD;TG; | 260;19010101;-5; | 3");
  CHECK(seen("a,b\n1,2\n# changed the sensor\n3,4\n") == "a;b; | 1;2; | 2");
  CHECK(notes("a,b\n1,2\n# changed the sensor\n3,4\n", "1 comment among the rows passed over"));
}

TEST_CASE("a row below the names has units if there are numbers below it") {
  const NamedTable table = table_of("time,load,sky\n,[MW],\n2024-01-01,1,rain\n2024-01-02,2,dry\n");
  CHECK(table.rows() == 2);
  CHECK(table.unit(1) == "MW");
  CHECK(table.unit(2).empty());
  CHECK(notes("a,b\nm/s,°C\n1,2\n", "line 2 has units: a in m/s, b in °C"));
  CHECK(seen("sky,load\nclear,\nrain,5\nclear,6\n") ==
        "sky;load; | clear;; | 3");  // words, and a missing number
  CHECK(seen("a,b\nfault,fault\n1,2\nfault,3\n") ==
        "a;b; | fault;fault; | 3");  // what comes again is not a unit
  CHECK(seen("a,b\nx,y\nz,w\n") == "a;b; | x;y; | 2");
  CHECK(seen("a\n0kW\n1%\n2kW\n") == "a; | 0kW; | 3");
}

TEST_CASE("numbers are names as pandas and R write them") {
  CHECK(seen(",0\n1821,269\n1822,270\n") == ";0; | 1821;269; | 2");
  CHECK(seen(",0,1\n0,5,6\n1,7,8\n") == ";0;1; | 0;5;6; | 2");
  CHECK(notes(",0\n1821,269\n1822,270\n", "line 1 is read as names"));
  CHECK(seen("0,1,2\n0.5,1.5,2.5\n0.1,0.2,0.3\n") == "0;1;2; | 0.5;1.5;2.5; | 2");
  CHECK(seen("date,10,20\n2024-01-01,1,2\n2024-01-02,3,4\n") == "date;10;20; | 2024-01-01;1;2; | 2");
  CHECK(seen(",2019,2020\n2024-01-01,1,2\n2024-01-02,3,4\n") == ";2019;2020; | 2024-01-01;1;2; | 2");
  CHECK(seen("0,1\n0,5.5\n1,6.5\n2,7.5\n") == " | 0;1; | 4");  // a row
  CHECK(notes("0,1\n0,5.5\n1,6.5\n", R"(If 0, 1, ... are names: "skip_rows": 1)"));
  CHECK(seen("0,1\n0,5.5,2\n1,6.5,3\n2,7.5,4\n") == ";0;1; | 0;5.5;2; | 3");
  CHECK(seen("\"x\",\"y\"\n\"1\",5,2\n\"2\",6,3\n\"3\",7,4\n") == ";x;y; | 1;5;2; | 3");
  CHECK(notes("x,y\n1,5,2\n2,6,3\n3,7,4\n", "line 1 has no name for the first column, which is the index"));
  CHECK(seen(",5\n1,6\n2,7\n") == " | ;5; | 3");  // a row whose first number is missing
}

TEST_CASE("columns of one name are renamed as pandas does, and empty ones at the end are none") {
  CHECK(seen("a,a,b,a\n1,2,3,4\n") == "a;a.1;b;a.2; | 1;2;3;4; | 1");
  CHECK(seen("a,a,a.1\n1,2,3\n") == "a;a.2;a.1; | 1;2;3; | 1");
  CHECK(notes("a,a\n1,2\n", "columns of one name or without one are renamed: a.1"));
  CHECK(seen(",,a\n1,2,3\n") == ";Unnamed: 1;a; | 1;2;3; | 1");
  CHECK(seen("a,b,,\n1,2,,\n3,4,,\n") == "a;b; | 1;2; | 2");
  CHECK(seen("a,b,\n1,2,\n3,4,5\n") == "a;b;; | 1;2;; | 2");
}
