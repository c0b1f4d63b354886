#include "lagtape/cells/indrnn.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("indrnn computes its equations, with and without a clip") {
  const auto by_hand = [](double bound) {
    return expected(0, [=](const auto& h, const auto&, const auto& x, int i) {
      const double w = std::clamp(4 * weight_of("w", kUnits)[i], -bound, bound);
      return std::max(affine("W", x, i) + w * h[i], 0.0);
    });
  };
  const auto scaled = [](Layer layer) {
    // Recurrent weights four times as large, so that the clip matters.
    return [layer](const std::string& name) {
      Tape tape;
      std::vector<Var> parameters;
      for (const ParameterDefinition& p : layer.parameters) {
        Vector numbers = weight_of(p.name, element_count(p.shape));
        if (p.name == "w") std::ranges::for_each(numbers, [](double& number) { number *= 4; });
        parameters.push_back(tape.constant(Tensor::from(p.shape, numbers, Dtype::f64)));
      }
      const auto place = std::ranges::find(layer.program.weights, name, &WeightDefinition::name);
      const Tensor value = layer.step_weights(parameters)[place - layer.program.weights.begin()].value();
      const auto numbers = value.values<double>();
      return Vector(numbers.begin(), numbers.end());
    };
  };
  for (const double longest : {0.0, 3.0}) {
    const Layer layer = IndRnn{.units = kUnits, .longest = longest}.build(kInputs);
    const auto got = evaluate(layer.program, scaled(layer), sequence());
    const auto wanted = by_hand(longest > 0 ? std::cbrt(2.0) : 100);
    double largest = 0;
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      for (int i = 0; i < kUnits; ++i) {
        CHECK(got[n][i] == doctest::Approx(wanted[n][i]).epsilon(1e-12));
        largest = std::max(largest, wanted[n][i]);
      }
    }
    CHECK(largest > 1);
  }
}

TEST_CASE("indrnn starts within its bound, the top layer of a stack from 1") {
  const auto w_of = [](const IndRnn& cell) { return cell.build(2).parameters[2]; };
  CHECK(w_of({.units = 4, .longest = 1}).name == "w");
  CHECK(w_of({.units = 4, .longest = 1}).initializer == Initializer::uniform(-2, 2));
  CHECK(w_of({.units = 4, .start = "ones"}).initializer == Initializer::constant(1));
}

}  // namespace
}  // namespace lagtape
