#include "lagtape/cells/lstm.h"

#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/tests/cells/support/by_hand.h"

namespace lagtape {
namespace {

using namespace test;

TEST_CASE("lstm computes its equations") {
  Vector c(kUnits);
  check_equal(run(Lstm{kUnits}.build(2)),
              expected(0, [&](const auto& h, const auto&, const auto& x, int unit) {
                const auto gate = [&](const std::string& name) {
                  return affine("W_" + name, h, unit) + affine("U_" + name, x, unit);
                };
                c[unit] = sigmoid(gate("f")) * c[unit] + sigmoid(gate("i")) * std::tanh(gate("g"));
                return sigmoid(gate("o")) * std::tanh(c[unit]);
              }));
}

}  // namespace
}  // namespace lagtape
