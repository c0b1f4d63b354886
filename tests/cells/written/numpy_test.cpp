#include <doctest/doctest.h>

#include "lagtape/core/io/json_file.h"
#include "lagtape/tests/cells/support/golden.h"

// Comparison of the cells of cells/written with NumPy's, on the files that golden/make_golden.py wrote.

namespace lagtape {
namespace {

using namespace test;

const std::filesystem::path kFolder = source_folder() / "tests" / "cells" / "written" / "golden";

TEST_CASE("cells that are written as equations have the outputs and gradients of NumPy") {
  int cells_compared = 0;
  for (const auto& header : std::filesystem::directory_iterator(source_folder() / "cells" / "written")) {
    if (header.path().extension() != ".h") continue;
    const std::string cell = header.path().stem().string();
    CAPTURE(cell);
    ++cells_compared;
    for (const Json& numbers : read_json(kFolder / (cell + ".json"))) {
      const Golden golden(cell, numbers);
      CAPTURE(numbers["options"].dump());
      CHECK(numbers["gradients"].size() == golden.layer.parameters.size() + 1 + numbers["initial"].size());
      CHECK(golden.problems(Dtype::f64, 1e-12, 1e-9) == "");
      CHECK(golden.problems(Dtype::f32, 2e-5, 1e-4) == "");
    }
  }
  CHECK(cells_compared >= 13);
}

TEST_CASE("numbers of NumPy that are not the cell's are found") {
  Json numbers = read_json(kFolder / "lru.json")[0];
  numbers["outputs"][5] = numbers["outputs"][5].get<double>() + 1e-10;
  CHECK(Golden("lru", numbers).problems(Dtype::f64, 1e-12, 1e-9).starts_with("outputs: "));
  numbers["gradients"]["theta_log"][1] = numbers["gradients"]["theta_log"][1].get<double>() + 1e-6;
  CHECK(Golden("lru", numbers).problems(Dtype::f64, 1e-9, 1e-9).starts_with("d theta_log: [1]"));
}

}  // namespace
}  // namespace lagtape
