#include "lagtape/cells/lstm.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

struct Form {
  bool forget_gate = true;
  double f_scale = 1, i_scale = 1;
};

std::vector<Vector> lstm_by_hand(const Form& form) {
  Vector c(kUnits);
  return expected(0, [&](const Vector& h, const Vector&, const Vector& x, int unit) {
    const auto gate = [&](const std::string& name) {
      return affine("W_" + name, h, unit) + affine("U_" + name, x, unit);
    };
    const double f = form.forget_gate ? sigmoid(gate("f")) : 1;
    c[unit] = form.f_scale * f * c[unit] + form.i_scale * sigmoid(gate("i")) * std::tanh(gate("g"));
    return sigmoid(gate("o")) * std::tanh(c[unit]);
  });
}

TEST_CASE("lstm computes its equations, without a forget gate and with scaled gates too") {
  check_equal(run(Lstm{.units = kUnits}.build(kInputs)), lstm_by_hand({}));
  check_equal(run(Lstm{.units = kUnits, .forget_gate = false}.build(kInputs)), lstm_by_hand({false}));
  check_equal(run(Lstm{.units = kUnits, .scaling = "v1", .dt = 0.3}.build(kInputs)),
              lstm_by_hand({true, 0.3, 0.3}));
  check_equal(run(Lstm{.units = kUnits, .scaling = "v2", .dt = 0.3}.build(kInputs)),
              lstm_by_hand({true, 0.7, 0.3}));
}

TEST_CASE("chrono starts all biases of lstm from zero but those of its gates of memory, which are opposite") {
  JsonErrors errors;
  const Json model = parse_json(R"({"layers": [{"cell": "lstm", "units": 50, "chrono": 784}]})", "test");
  const ModelDefinition definition = read_model(model, {}, errors);
  const FittedModel spec = fit(definition, {.input = 1, .output = 1}, errors);
  errors.raise("test");
  const Parameters parameters = draw_parameters(spec, Dtype::f64, 3);
  const auto bias = [&](const std::string& name) { return parameters["layers.0." + name + ".bias"].value; };
  double largest = 0;
  for (std::int64_t i = 0; i < 50; ++i) {
    for (const char* name : {"U_i", "U_f", "W_g", "U_g", "W_o", "U_o"}) CHECK(bias(name).at(i) == 0);
    CHECK(bias("W_f").at(i) >= 0);
    CHECK(bias("W_f").at(i) <= std::log(783.0));
    CHECK(bias("W_i").at(i) == -bias("W_f").at(i));
    largest = std::max(largest, bias("W_f").at(i));
  }
  CHECK(largest > 5);
}

}  // namespace
}  // namespace lagtape
