#include <doctest/doctest.h>

#include "lagtape/core/io/json_file.h"
#include "lagtape/tests/cells/support/golden.h"

// Comparison of rnn, lstm and gru with PyTorch's, on the files that golden/make_golden.py wrote.

namespace lagtape {
namespace {

using namespace test;

Json numbers_of(const std::string& cell) {
  Json numbers = read_json(source_folder() / "tests/cells/golden" / (cell + ".json"));
  numbers["options"] = {{"units", numbers["units"]}};
  return numbers;
}

TEST_CASE("rnn, lstm and gru have the outputs and gradients of PyTorch") {
  for (const std::string cell : {"rnn", "lstm", "gru"}) {
    CAPTURE(cell);
    const Golden golden(cell, numbers_of(cell));
    CHECK(golden.json["gradients"].size() ==
          golden.layer.parameters.size() + 1 + golden.json["initial"].size());
    CHECK(golden.problems(Dtype::f64, 1e-11, 1e-11) == "");
    CHECK(golden.problems(Dtype::f32, 1e-5, 1e-5) == "");
  }
}

TEST_CASE("numbers of PyTorch that are not the cell's are found") {
  Golden golden("gru", numbers_of("gru"));
  golden.json["gradients"]["W_n"][5] = golden.json["gradients"]["W_n"][5].get<double>() + 1e-9;
  CHECK(golden.problems(Dtype::f64, 1e-11, 1e-11).starts_with("d W_n: [5]"));
}

}  // namespace
}  // namespace lagtape
