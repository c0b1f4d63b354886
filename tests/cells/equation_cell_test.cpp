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

TEST_CASE("params start from their numbers, keep their bounds, and are lags up to their largest value") {
  const Layer layer = from_equations(R"json({
    "params": {"a": {"start": 0.2, "min": 0, "max": 2, "unit": "1/day"}, "b": 0.1, "k": {"start": 1, "size": "units", "train": false},
               "tau": {"start": 17, "min": 5, "max": 39.5}},
    "derived": {"c": "1 + a * b"},
    "state": {"y": []},
    "step": ["y' = (1 - b) * y + c * y[-tau] / (1 + y * y) + sum(k) * sum(x)"],
    "output": "y'"})json",
                                     2, 1);
  REQUIRE(layer.parameters.size() == 4);
  CHECK(layer.parameters[0].initializer == Initializer::constant(0.2));
  CHECK(layer.parameters[0].bounds == Bounds{0, 2, Scale::logit});
  CHECK(layer.parameters[0].unit == "1/day");
  CHECK(layer.parameters[1].bounds == Bounds{});
  CHECK(layer.parameters[2].shape == Shape{2});
  CHECK_FALSE(layer.parameters[2].trainable);
  CHECK(layer.parameters[3].bounds == Bounds{5, 39.5, Scale::logit});
  CHECK(layer.program.largest_lag() == 40);
  CHECK(layer.parameter_count() == 3);

  const auto error_of = [](const std::string& params) {
    try {
      from_equations(
          R"json({"hyper": {"leak": 1}, "params": )json" + params +
              R"json(, "state": {"y": []}, "step": ["y' = y + a + leak * sum(x)"], "output": "y'"})json",
          1, 1);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(
      error_of(R"({"a": 1, "leak": 1})").find("param 'leak': the name is taken; it is a hyper-parameter.") !=
      std::string::npos);
  CHECK(error_of(R"({"a": 1, "b": 1})").find("no equation uses 'b'") != std::string::npos);
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
