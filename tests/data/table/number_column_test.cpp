#include "lagtape/data/table/number_column.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/data/table/missing_code.h"
#include "lagtape/tests/data/support/sample_files.h"

using namespace lagtape;

namespace {

using Values = std::vector<double>;

NumberColumn column_of(const std::string& cells, const TableOptions& options = {},
                       const std::string& other = "0") {
  std::string text = "v;w\n", left = cells;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('|'), left.size());
    text += left.substr(0, end) + ";" + other + "\n";
    left.erase(0, end + 1);
  }
  TableOptions own = options;
  own.separator = ';';
  const NamedTable table = parse_table(text, "own.csv", own);
  return read_number_column(table, 0, own);
}

Values values_of(const NumberColumn& column) {
  const auto values = column.values.values<double>();
  return {values.begin(), values.end()};
}

std::string refusal(const std::string& cells, const TableOptions& options = {}) {
  return input_error_of([&] { column_of(cells, options); });
}

}  // namespace

TEST_CASE("separators of thousands are read where a whole column has them") {
  CHECK(values_of(column_of("1,234.5|999|-12,000")) == Values{1234.5, 999, -12000});
  CHECK(values_of(column_of("1.234,5|999|2,25", {.decimal = ','})) == Values{1234.5, 999, 2.25});
  CHECK(values_of(column_of("1 234|5|1\xC2\xA0"
                            "234 567,5",
                            {.decimal = ','})) == Values{1234, 5, 1234567.5});
  CHECK(values_of(column_of("1'234.5|7")) == Values{1234.5, 7});
  CHECK(values_of(column_of("1,234,567|89")) == Values{1234567, 89});
  CHECK(note_of_numbers(column_of("1,234.5|7"), "v", {}) == "'v': , between thousands left out");
  CHECK(note_of_numbers(column_of("1234.5|7"), "v", {}).empty());
}

TEST_CASE("a column that other rules than its own would read is refused") {
  CHECK(column_of("1,234.5|12,5").refused == 1);  // the first cell is thousands, the second is none
  CHECK(column_of("1,234.5|1.234,5").refused == 1);
  CHECK(column_of("0,123|1,000.5").refused == 0);
  CHECK(column_of("1,234.5|x").refused == 1);
  CHECK(column_of("5|x|7").refused == 1);
  CHECK(column_of("1,234.5", {.thousands = TableOptions::kNoThousands}).refused == 0);
}

TEST_CASE("a comma that could be either is asked for, unless another column decides") {
  CHECK(refusal("1,234|2,345") ==
        "own.csv: line 3, column 1 (v): with , as a separator of thousands or as the decimal point this is "
        "another "
        "number, and no cell decides. Got '2,345'. Write \"thousands\": \",\" or \"decimal\": \",\".");
  CHECK(values_of(column_of("1,234|2,345", {.thousands = ','})) == Values{1234, 2345});
  CHECK(values_of(column_of("1,234|2,345", {.decimal = ','})) == Values{1.234, 2.345});
  CHECK(values_of(column_of("1,234|2,345", {}, "0.5")) == Values{1234, 2345});
}

TEST_CASE("units are left out where the whole column has the same, and they are asked for") {
  const TableOptions strip = {.strip_units = true};
  const NumberColumn power = column_of("100 kW|-2.5e1 kW|NA", strip);
  CHECK(values_of(power)[1] == -25);
  CHECK(power.missing == std::vector<bool>{false, false, true});
  CHECK(power.style.unit == "kW");
  CHECK(note_of_numbers(power, "v", strip) == "'v': the unit 'kW' left out");
  CHECK(values_of(column_of("12 %|7%", strip)) == Values{12, 7});
  CHECK(values_of(column_of("$1,234.50|$7", strip)) == Values{1234.5, 7});
  CHECK(values_of(column_of("5 m2|6 m2", strip)) == Values{5, 6});
  CHECK(values_of(column_of("21.5°C|20°C", strip)) == Values{21.5, 20});
  CHECK(values_of(column_of("1|2", strip)) == Values{1, 2});
  CHECK(column_of("100 kW|1 MW", strip).refused == 1);
  CHECK(column_of("100 kW|1", strip).refused == 1);
  CHECK(column_of("12:30|13:30", strip).refused == 0);
  CHECK(column_of("2024-01-01|2024-01-02", strip).refused == 0);
  CHECK(column_of("100 kW").refused == 0);
  CHECK(hint_for_number("100 kW", {}) ==
        R"(With "units": "strip" the unit 'kW' is left out, if all cells of the column have it.)");
}

TEST_CASE("missing codes are no numbers") {
  const TableOptions options = {.missing_codes = {-200, 999.9}};
  const NumberColumn column = column_of("1|-200|999.90|-200.5", options);
  CHECK(column.coded == 2);
  CHECK(column.missing == std::vector<bool>{false, true, true, false});
  CHECK(std::isnan(column.values.at(1)));
  CHECK(column.values.at(3) == -200.5);
  CHECK(note_of_numbers(column, "v", options) == "'v': 2 cells are one of the missing codes -200, 999.9");
}

TEST_CASE("a code is a number that repeats far from all others") {
  const auto found = [](double code, int every, double scale, double first) {
    Values values;
    for (int i = 0; i < 1000; ++i)
      values.push_back(i % every == 3 ? code : first + scale * std::sin(i * 0.7));
    return find_missing_code(values);
  };
  REQUIRE(found(-200, 11, 5, 6));
  CHECK(found(-200, 11, 5, 6)->value == -200);
  CHECK(found(-200, 11, 5, 6)->cells == 91);
  CHECK(found(9999, 100, 5, 6));
  CHECK(found(-200, 11, 700, 700));  // a usual code may be nearer
  CHECK_FALSE(found(-123, 11, 700, 700));
  CHECK_FALSE(found(-200, 300, 5, 6));  // 4 of 1000 cells
  CHECK_FALSE(found(0, 11, 5, 6));      // near the others
  Values valve, flat(1000, 5);
  for (int i = 0; i < 1000; ++i) valve.push_back(i % 9 == 0 ? 100 : 0);
  CHECK_FALSE(find_missing_code(valve));
  CHECK_FALSE(find_missing_code(flat));
  Values first, second;
  for (int i = 0; i < 1000; ++i) {
    first.push_back(i % 50 == 1 ? -999 : i % 50 == 2 ? -200 : std::sin(i));
    second.push_back(i % 100 == 1 ? -200 : i % 100 == 2 ? 999.5 : std::sin(i));
  }
  CHECK(note_of_codes(find_missing_codes({{"a", first}, {"b", second}}, {})) ==
        "-999 in 20 cells of a is far from all other numbers; -200 in 30 cells of a, b is far from all other "
        "numbers; "
        "999.5 in 10 cells of b is far from all other numbers. If it marks missing numbers, write "
        "\"missing_codes\": "
        "[-999, -200, 999.5]");
}

TEST_CASE("a code of one column is a measurement of another, and states are no codes") {
  Values pump, cold, rare, closed, off, counts;
  for (int i = 0; i < 1000; ++i) {
    pump.push_back(i % 50 == 1 ? -1 : 50 + 10 * std::sin(i));
    cold.push_back(std::round(5 * std::sin(i * 0.01)));
    rare.push_back(i == 500 ? -1 : 60 + 10 * std::sin(i));
    closed.push_back(i % 7 == 0 ? 0 : 50 + 10 * std::sin(i));
    off.push_back(i / 7 % 3 == 0 ? 0 : 2050 + 10 * std::sin(i));
    counts.push_back(i % 10 - 1);
  }
  const auto codes = find_missing_codes({{"pump", pump}, {"cold", cold}}, {});
  CHECK(missing_codes_json(codes).dump() == R"({"pump":[-1]})");
  CHECK(note_of_codes(codes).ends_with("write \"missing_codes\": {\"pump\": [-1]}"));
  CHECK(missing_codes_json(find_missing_codes({{"pump", pump}, {"rare", rare}}, {})).dump() == "[-1]");
  REQUIRE(find_missing_code(closed));
  CHECK_FALSE(find_missing_code(closed)->is_usual);  // said, but not written
  CHECK_FALSE(find_missing_code(off));
  CHECK_FALSE(find_missing_code(counts));
}
