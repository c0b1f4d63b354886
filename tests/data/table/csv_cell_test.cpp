#include "lagtape/data/table/csv.h"

#include <doctest/doctest.h>

namespace lagtape {
namespace {

TEST_CASE("a cell of CSV is quoted where a reader or a spreadsheet would take it for something else") {
  CHECK(csv_cell("load") == "load");
  CHECK(csv_cell("a, b") == "\"a, b\"");
  CHECK(csv_cell("5\" nail") == "\"5\"\" nail\"");
  CHECK(csv_cell("=cmd|' /C calc'!A0") == "\"=cmd|' /C calc'!A0\"");
  for (const char* formula : {"+cmd", "-cmd", "@SUM(A1)", "=A1"}) {
    CAPTURE(formula);
    CHECK(csv_cell(formula) == '"' + std::string(formula) + '"');
  }
  for (const char* number : {"-0.5", "+1e-3", "-3"}) CHECK(csv_cell(number) == number);
}

}  // namespace
}  // namespace lagtape
