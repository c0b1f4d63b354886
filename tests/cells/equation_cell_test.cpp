#include "lagtape/cells/equation_cell.h"

#include <doctest/doctest.h>

namespace lagtape {
namespace {

Layer from_equations(const std::string& json, std::int64_t units, std::int64_t input) {
  JsonErrors errors;
  const Json value = parse_json(json, "test");
  JsonReader reader(value, "/cells/mine", errors);
  const CellDefinition definition = read_cell_definition(reader);
  errors.raise("test");
  return definition.build(units, input);
}

TEST_CASE("weights of equations start from the cell's width, a lag from its middle, and as init says") {
  const Layer layer = from_equations(R"json({
    "weights": {"W": ["units", "units"], "b": "units", "theta": []},
    "init": {"b": "zeros"},
    "lags": {"theta": 63},
    "state": {"h": "units"},
    "step": ["h' = tanh(W @ h[-theta] + b) + sum(x)"],
    "output": "h'"})json",
                                     4, 1);
  REQUIRE(layer.parameters.size() == 3);
  CHECK(layer.parameters[0].initializer == Initializer::uniform(-0.5, 0.5));
  CHECK(layer.parameters[1].initializer == Initializer::constant(0));
  CHECK(layer.parameters[2].initializer == Initializer::constant(31.5));
  CHECK(layer.parameters[2].shape == Shape{});
}

}  // namespace
}  // namespace lagtape
