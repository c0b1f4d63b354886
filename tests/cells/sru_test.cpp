#include "lagtape/cells/sru.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("sru computes its equations, with a highway of its own width and with another") {
  for (const int inputs : {kInputs, kUnits}) {
    Vector c(kUnits);
    std::vector<Vector> x = sequence(), outputs;
    if (inputs == kUnits)
      for (Vector& v : x) v.push_back(0.3);
    for (const Vector& v : x) {
      outputs.emplace_back();
      for (int i = 0; i < kUnits; ++i) {
        const double f = sigmoid(affine("W_f", v, i) + weight_of("v_f", kUnits)[i] * c[i]);
        const double r = sigmoid(affine("W_r", v, i) + weight_of("v_r", kUnits)[i] * c[i]);
        c[i] = f * c[i] + (1 - f) * linear("W", v, i);
        const double skip = inputs == kUnits ? std::sqrt(1 + 2 * std::exp(-0.5)) * v[i] : linear("W_s", v, i);
        outputs.back().push_back(r * c[i] + (1 - r) * skip);
      }
    }
    const Layer layer = Sru{.units = kUnits, .highway_bias = -0.5}.build(inputs);
    check_equal(evaluate(
                    layer.program, [&](const std::string& name) { return step_weight(layer, name); }, x),
                outputs);
  }
}

TEST_CASE("sru starts its highway by its bias") {
  for (const ParameterDefinition& p : Sru{.units = 3, .highway_bias = -2}.build(2).parameters) {
    if (p.name == "W_r.bias") CHECK(p.initializer == Initializer::constant(-2));
    if (p.name == "W_f.bias") CHECK(p.initializer == Initializer::constant(0));
    if (p.name == "v_f") CHECK(p.initializer == Initializer::uniform(-std::sqrt(1.5), std::sqrt(1.5)));
    if (p.name == "W") CHECK(p.initializer == Initializer{Initializer::Kind::kaiming_uniform, 1});
  }
}

}  // namespace
}  // namespace lagtape
