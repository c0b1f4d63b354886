#include "lagtape/cells/tarnn.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("tarnn computes its equations, with the gate at either place") {
  constexpr int kLength = 7;
  for (const bool inner : {false, true}) {
    const std::vector<Vector> inputs = sequence();
    Vector h(kUnits);
    std::vector<Vector> outputs;
    for (int n = 0; n < kSteps; ++n) {
      const Vector &x = inputs[n], &last = inputs[std::max(n - 1, 0)];
      Vector q = h, s(kUnits);
      for (int i = 0; i < kUnits; ++i) s[i] = sigmoid(linear("Ug", h, i) + affine("Wg", x, i));
      for (const std::string k : {"1", "2"}) {
        const double a = weight_of("A" + k, kLength)[std::min(n, kLength - 1)];
        Vector next(kUnits);
        for (int i = 0; i < kUnits; ++i) {
          const double r = affine("U2", h, i) + affine("W1", x, i) + linear("W2", last, i);
          const double f =
              std::tanh(linear("U1", q, i) + r) - q[i] - h[i] + linear("B1", x, i) + linear("B2", h, i);
          next[i] = inner ? q[i] + a * s[i] * f : (1 - a) * q[i] + a * f;
        }
        q = next;
      }
      for (int i = 0; i < kUnits; ++i) h[i] = inner ? q[i] : (1 - s[i]) * h[i] + s[i] * q[i];
      outputs.push_back(h);
    }
    const Tarnn cell{.units = kUnits,
                     .length = kLength,
                     .inner_steps = 2,
                     .gate = inner ? "inner" : "output",
                     .activation = "tanh"};
    check_equal(run(cell.build(kInputs)), outputs);
  }
}

TEST_CASE("tarnn starts with its gate nearly closed where it is at the output") {
  const auto bias = [](const std::string& gate) {
    for (const ParameterDefinition& p : Tarnn{.units = 3, .length = 5, .gate = gate}.build(2).parameters)
      if (p.name == "Wg.bias") return p.initializer;
    return Initializer::constant(7);
  };
  CHECK(bias("output") == Initializer::constant(-3));
  CHECK(bias("inner") == Initializer::constant(0));
}

}  // namespace
}  // namespace lagtape
