#include "lagtape/cells/incremental_rnn.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

/// h[n+1] of iRNN in `steps` inner steps, with eta the same in all.
Vector inner(const Vector& h, const Vector& x, int steps, const std::function<double(int)>& eta) {
  Vector v(kUnits);
  for (int k = 1; k <= steps; ++k) {
    Vector s(kUnits), next(kUnits);
    for (int i = 0; i < kUnits; ++i) s[i] = v[i] + h[i];
    for (int i = 0; i < kUnits; ++i)
      next[i] = v[i] + eta(k) * (std::tanh(linear("U", s, i) + affine("W", x, i)) - 0.8 * s[i]);
    v = next;
  }
  return v;
}

TEST_CASE("incremental_rnn computes its inner steps") {
  for (const int steps : {2, 5}) {
    const IncrementalRnn cell{.units = kUnits, .inner_steps = steps, .alpha = 0.8};
    const auto eta = [](int k) { return weight_of("eta_" + std::to_string(k), 1)[0]; };
    check_equal(run(cell.build(kInputs)), expected(0, [&](const auto& h, const auto&, const auto& x, int i) {
                  return inner(h, x, steps, eta)[i];
                }));
  }
}

TEST_CASE("at the equilibrium the Jacobian of incremental_rnn is minus the identity") {
  const IncrementalRnn cell{.units = kUnits, .inner_steps = 200, .alpha = 4};
  const Layer layer = cell.build(kInputs);
  const auto weight = [](const std::string& name) {
    if (name.starts_with("eta_")) return Vector{0.2};
    const std::int64_t count = name == "U" ? kUnits * kUnits : name == "W" ? kUnits * kInputs : kUnits;
    return weight_of(name, count);
  };
  // The second of two steps sees the first one's input through the state; h + h' is the equilibrium.
  const auto after = [&](const Vector& x0) { return evaluate(layer.program, weight, {x0, {0.3, -0.4}}); };
  const auto a = after({0.5, 0.2}), b = after({-0.7, 1.1});
  for (int i = 0; i < kUnits; ++i) {
    const double moved = a[0][i] - b[0][i];
    CHECK(std::abs(moved) > 1e-3);
    CHECK(a[1][i] - b[1][i] == doctest::Approx(-moved).epsilon(1e-9));
  }
}

}  // namespace
}  // namespace lagtape
