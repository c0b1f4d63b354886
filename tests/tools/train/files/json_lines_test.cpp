#include "lagtape/tools/train/files/json_lines.h"

#include <doctest/doctest.h>

#include <vector>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

std::vector<int> numbers_of(std::string_view text) {
  std::vector<int> numbers;
  for_each_json_line(text, "rows.jsonl",
                     [&](const Json& row, const std::string&) { numbers.push_back(row.at("n").get<int>()); });
  return numbers;
}

TEST_CASE("a line that a kill cut short is left out, if it is the last") {
  CHECK(numbers_of("") == std::vector<int>{});
  CHECK(numbers_of("{\"n\": 1}\n{\"n\": 2}\n") == std::vector<int>{1, 2});
  CHECK(numbers_of("{\"n\": 1}\n{\"n\": ") == std::vector<int>{1});
  try {
    numbers_of("{\"n\": 1}\n{\"n\": \n{\"n\": 3}\n");
    FAIL("a line in the middle is no object");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("rows.jsonl: line 2") != std::string::npos);
  }
  CHECK_THROWS_AS(numbers_of("[1]\n{\"n\": 3}\n"), InputError);
}

}  // namespace
}  // namespace lagtape
