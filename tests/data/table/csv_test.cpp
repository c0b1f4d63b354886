#include "lagtape/data/table/csv.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tests/core/support/temporary_folder.h"

using namespace lagtape;

namespace {

std::string refusal(const std::string& text) {
  try {
    parse_csv(text, "f");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("Numbers are read with and without a header") {
  const Csv plain = parse_csv("1,2\n3,-4.5e1\n", "f");
  CHECK(plain.header.empty());
  CHECK(plain.values.shape() == Shape{2, 2});
  CHECK(plain.values.dtype() == Dtype::f64);
  CHECK(plain.values.at(3) == -45);
  const Csv named = parse_csv("time, value\n1,2\n", "f");
  CHECK(named.header == std::vector<std::string>{"time", "value"});
  CHECK(named.values.shape() == Shape{1, 2});
}

TEST_CASE("Blanks, empty lines, a byte-order mark, CRLF and a missing last newline are allowed") {
  const Csv csv = parse_csv(
      "\xEF\xBB\xBF"
      "a,b\r\n\r\n 1 ,\t+2\r\n\n.5,1e-3",
      "f");
  CHECK(csv.header == std::vector<std::string>{"a", "b"});
  CHECK(csv.values.shape() == Shape{2, 2});
  CHECK(csv.values.at(1) == 2);
  CHECK(csv.values.at(2) == 0.5);
}

TEST_CASE("A field that is no finite number is reported with its line and column") {
  CHECK(refusal("1,2\n3,x\n") == "f: line 2, column 2: expected a finite number, got 'x'");
  CHECK(refusal("a,b\n\n3,\n") == "f: line 3, column 2 (b): expected a finite number, got nothing");
  CHECK(refusal("nan,1\n") == "f: line 1, column 1: expected a finite number, got 'nan'");
  CHECK(refusal("1\n-inf\n") == "f: line 2, column 1: expected a finite number, got '-inf'");
  CHECK(refusal("1\n1e999\n") == "f: line 2, column 1: expected a finite number, got '1e999'");
  CHECK(refusal("1\n0x10\n") == "f: line 2, column 1: expected a finite number, got '0x10'");
  CHECK(refusal("1\n1.5.2\n") == "f: line 2, column 1: expected a finite number, got '1.5.2'");
  CHECK(refusal("1\n+-1\n") == "f: line 2, column 1: expected a finite number, got '+-1'");
  CHECK(refusal("a;b\n1;2\n") ==
        "f: line 2, column 1 (a;b): expected a finite number, got '1;2'. Commas separate columns.");
  CHECK(refusal("1,oops\n2,3\n") == "f: line 1, column 2: expected a finite number, got 'oops'");
}

TEST_CASE("Rows of unequal length and files without numbers are refused") {
  CHECK(refusal("1,2\n3\n") == "f: line 2: expected 2 cells as in the first row, got 1");
  CHECK(refusal("a,b\n1,2,3\n") == "f: line 2: expected 2 cells as in the first row, got 3");
  CHECK(refusal("") == "f: contains no rows.");
  CHECK(refusal("a,b\n") == "f: contains names and no numbers.");
  CHECK(refusal("\n\n") == "f: contains no rows.");
}

TEST_CASE("Of a table with names the wanted columns are read, and others may contain anything") {
  const Csv csv = parse_csv("a,note,b\n1,x,2\n3,\"y, z\",4\n", "f", {"b", "a"});
  CHECK(csv.header == std::vector<std::string>{"b", "a"});
  CHECK(csv.values.at(0) == 2);
  CHECK(csv.values.at(3) == 3);
  CHECK(parse_csv("1,2\n", "f", {"b", "a"}).values.at(0) == 1);
  CHECK_THROWS_WITH_AS(parse_csv("a,b\n1,2\n", "f", {"c"}), doctest::Contains("unknown column 'c'"),
                       InputError);
}

TEST_CASE("What is written reads back to the same bits") {
  const TemporaryFolder folder;
  const std::vector<double> values = {
      0.1, 1.0 / 3, -0.0, 1e300, 4.9406564584124654e-324, 12345678901234567890.0};
  write_csv(folder / "a.csv", {{"x", "the y"}, Tensor::from({3, 2}, values, Dtype::f64)});
  const Csv back = read_csv(folder / "a.csv");
  CHECK(back.header == std::vector<std::string>{"x", "the y"});
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(back.values.at(static_cast<std::int64_t>(i)) == values[i]);
    CHECK(std::signbit(back.values.at(static_cast<std::int64_t>(i))) == std::signbit(values[i]));
  }
}

TEST_CASE("An f32 tensor is written with the digits of f32") {
  CHECK(serialize_csv({{}, Tensor::from({1, 2}, {0.1, 1.0 / 3}, Dtype::f32)}) == "0.1,0.33333334\n");
}

TEST_CASE("Tables that would not read back are not written") {
  const Tensor two = Tensor::from({1, 2}, {1, 2}, Dtype::f64);
  CHECK_THROWS_AS(serialize_csv({{}, Tensor({2}, Dtype::f64)}), InputError);
  CHECK_THROWS_AS(serialize_csv({{}, Tensor({0, 2}, Dtype::f64)}), InputError);
  CHECK_THROWS_AS(serialize_csv({{}, Tensor::full({1, 1}, Dtype::f64, std::nan(""))}), InputError);
  CHECK_THROWS_AS(serialize_csv({{"a"}, two}), InputError);
  CHECK_THROWS_AS(serialize_csv({{"a", "b,c"}, two}), InputError);
  CHECK_THROWS_AS(serialize_csv({{"a", "1"}, two}), InputError);
  CHECK_THROWS_AS(serialize_csv({{"a", "2024-01-31"}, two}), InputError);
  CHECK_THROWS_AS(serialize_csv({{"a", " b"}, two}), InputError);
  CHECK_THROWS_AS(serialize_csv({{"", "-"}, two}), InputError);
  CHECK(parse_csv(serialize_csv({{"", "a"}, two}), "f").header == std::vector<std::string>{"", "a"});
}
