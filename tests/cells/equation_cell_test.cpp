#include "lagtape/cells/equation_cell.h"

#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"

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

TEST_CASE("several outputs of equations are one after the other") {
  const auto with_output = [](const std::string& output) {
    return from_equations(text_of(R"json({
      "weights": {"W": ["units", "input"]}, "state": {"h": "units", "c": "units"},
      "step": ["c' = 0.5 * c + W @ x", "h' = tanh(c')"], "output": )json",
                                  output, "}"),
                          4, 2);
  };
  const std::string three = R"json(["h'", "c'", "x"])json";
  const StepProgram two = with_output(three).program;
  CHECK(two.values[two.output].shape == RowShape::vector(10));
  const std::string together = R"json("concat(h', c', x)")json", one = R"json(["h'"])json",
                    alone = R"json("h'")json", unknown = R"json(["h'", "k'"])json";
  CHECK(to_string(two) == to_string(with_output(together).program));
  CHECK(to_string(with_output(one).program) == to_string(with_output(alone).program));
  const std::string with_a_number = R"json(["h'", 3])json";
  for (const std::string& bad : {std::string("[]"), std::string("3"), with_a_number, std::string("{}")})
    CHECK_THROWS_WITH_AS(with_output(bad), doctest::Contains("/cells/mine/output: expected what the layer"),
                         InputError);
  CHECK_THROWS_WITH_AS(with_output(unknown), doctest::Contains("output, column 12: unknown name 'k''"),
                       InputError);
}

}  // namespace
}  // namespace lagtape
