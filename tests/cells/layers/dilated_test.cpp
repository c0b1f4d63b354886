#include "lagtape/cells/layers/dilated.h"

#include <doctest/doctest.h>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/tests/cells/support/by_hand.h"
#include "lagtape/tests/cells/support/cell_row.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("a layer of dilation d is the cell on d interleaved sequences") {
  constexpr int kDilation = 3;
  const Layer plain = build_cell("gru", {{"units", kUnits}}, kInputs).front();
  const Layer dilated =
      build_cell("dilated", {{"of", {{"cell", "gru"}, {"units", kUnits}}}, {"dilations", {kDilation}}},
                 kInputs)
          .front();
  const auto weight = [&](const std::string& name) { return step_weight(plain, name); };
  const std::vector<Vector> x = sequence(), y = run(dilated);
  for (int first = 0; first < kDilation; ++first) {
    std::vector<Vector> own_x, own_y;
    for (int n = first; n < kSteps; n += kDilation) {
      own_x.push_back(x[n]);
      own_y.push_back(y[n]);
    }
    check_equal(own_y, evaluate(plain.program, weight, own_x));
  }
}

TEST_CASE("dilated has the layers that the cell has with its own option") {
  const Json list = {1, 2, 4};
  const auto named =
      build_cell("dilated", {{"of", {{"cell", "lstm"}, {"units", 3}}}, {"dilations", list}}, kInputs);
  const auto own = build_cell("lstm", {{"units", 3}, {"dilations", list}}, kInputs);
  REQUIRE(named.size() == 3);
  for (std::size_t l = 0; l < named.size(); ++l)
    CHECK(to_string(named[l].program) == to_string(own[l].program));
}

/// The errors from reading and building a model of one dilated layer with the options.
std::string error_of(const std::string& options) {
  Json layer = parse_json(options, "test");
  layer["cell"] = "dilated";
  const Json definitions = parse_json(R"({"leaky": {"weights": {"b": ["units"]}, "state": {"h": "units"},
      "step": ["h' = 0.5 * h + b"], "output": "h'"}})",
                                      "test");
  JsonErrors errors;
  const ModelDefinition definition = read_model({{"layers", Json::array({layer})}}, definitions, errors);
  if (errors.empty()) fit(definition, {.input = 1, .output = 1}, errors);
  try {
    errors.raise("test");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("dilated takes a cell of the user's") {
  CHECK(error_of(R"({"of": {"cell": "leaky", "units": 2}, "dilations": [1, 2]})") == "no error");
}

TEST_CASE("what is wrong with dilated is said at its place") {
  const auto has = [&](const std::string& options, const std::string& text) {
    CHECK_MESSAGE(error_of(options).find(text) != std::string::npos, error_of(options));
  };
  has(R"({"dilations": [1]})", "/of: is missing, expected a cell");
  has(R"({"of": "gru", "dilations": [1]})", "/of: expected an object, got \"gru\"");
  has(R"({"of": {"cell": "gur", "units": 2}, "dilations": [1]})",
      "/of/cell: unknown value 'gur'; did you mean 'gru'?");
  has(R"({"of": {"cell": "gru", "unit": 2}, "dilations": [1]})", "/of/unit: unknown key 'unit'");
  has(R"({"of": {"cell": "gru", "units": 2}})",
      "/dilations: is missing, expected a list of 1 or more integers >= 1");
  has(R"({"of": {"cell": "gru", "units": 2}, "dilations": []})",
      "/dilations: expected a list of 1 or more integers >= 1");
  has(R"({"of": {"cell": "gru", "units": 2}, "dilations": [1], "init": {"9.W_r": "zeros"}})",
      "unknown parameter '9.W_r'; did you mean '0.W_r'?");
}

}  // namespace
}  // namespace lagtape
