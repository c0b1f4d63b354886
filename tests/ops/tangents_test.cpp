#include <doctest/doctest.h>

#include <array>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/ops/element.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/loss.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/tests/ops/support/operation_rows.h"

namespace lagtape::test {
namespace {

/// The derivative of the result by all inputs together, in directions of `by`, by differences.
std::vector<double> differences(std::span<const Tensor> at, std::span<const Tensor> by,
                                const std::function<std::vector<double>(Inputs)>& values) {
  constexpr double kStep = 1e-4;
  std::vector<std::vector<double>> sides;
  for (const double sign : {1.0, -1.0}) {
    Tape tape;
    std::vector<Var> x;
    for (std::size_t i = 0; i < at.size(); ++i)
      x.push_back(tape.variable(
          element(ElementOp::add, at[i], element(ElementOp::multiply_constant, by[i], {}, sign * kStep))));
    sides.push_back(values(x));
  }
  std::vector<double> slopes;
  for (std::size_t i = 0; i < sides[0].size(); ++i)
    slopes.push_back((sides[0][i] - sides[1][i]) / (2 * kStep));
  return slopes;
}

TEST_CASE("tangents of operations are their derivatives, and have gradients and tangents themselves") {
  int checked = 0;
  for (const Row& row : operation_rows()) {
    const std::string name = row.declaration.substr(0, row.declaration.find('('));
    if (std::set<std::string>{"embedding", "reverse_time", "batch_norm", "dropout", "mse", "cross_entropy",
                              "binary_cross_entropy"}
            .contains(name))
      continue;  // layers of whole sequences and losses have none
    INFO(row.declaration);
    Tape tape;
    const std::vector<Tensor> at = inputs_of(row, Dtype::f64);
    std::vector<Tensor> by;
    std::vector<Var> x, changes;
    for (std::size_t i = 0; i < at.size(); ++i) {
      by.push_back(random_tensor(at[i].shape(), Dtype::f64, 31 + i));
      x.push_back(tape.variable(at[i]));
      changes.push_back(tape.variable(by[i]));
    }
    const Var y = row.apply(x);
    const Var change = tape.tangents(std::array{y}, x, changes)[0];
    REQUIRE(change.is_of_tape());
    REQUIRE(change.shape() == y.shape());
    check_close(numbers(change.value()),
                differences(at, by, [&](Inputs moved) { return numbers(row.apply(moved).value()); }), 2e-6);
    // The gradient of the change, and its tangent, against each other and against differences.
    const Var weights = tape.constant(random_tensor(y.shape(), Dtype::f64, 99));
    const Var total = sum(change * weights);
    const Var again = tape.tangents(std::array{total}, x, changes)[0];
    tape.backward(total);
    double product = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::vector<double> gradient = numbers(x[i].grad()), direction = numbers(by[i]);
      for (std::size_t j = 0; j < gradient.size(); ++j) product += gradient[j] * direction[j];
    }
    const double second = again.is_of_tape() ? again.value().item() : 0;
    CHECK(second == doctest::Approx(product).epsilon(1e-9));
    const std::vector<double> slope = differences(at, by, [&](Inputs moved) {
      Tape& other = moved.front().tape();
      std::vector<Var> same;
      for (const Tensor& direction : by) same.push_back(other.constant(direction));
      const Var moving = other.tangents(std::array{row.apply(moved)}, moved, same)[0];
      return std::vector{sum(moving * other.constant(weights.value())).value().item()};
    });
    CHECK(second == doctest::Approx(slope[0]).epsilon(1e-5));
    ++checked;
  }
  CHECK(checked > 60);
}

TEST_CASE("an operation without a tangent says so") {
  Tape tape;
  const Var x = tape.variable(random_tensor({4, 3}, Dtype::f64, 1));
  const Var y = square(mse(x, random_tensor({4, 3}, Dtype::f64, 2)));
  CHECK_THROWS_WITH_AS(tape.tangents(std::array{y}, std::array{x}, std::array{x}),
                       "[tangents] an operation has no derivative of forward mode.", InputError);
  const Var apart = tape.variable(random_tensor({2}, Dtype::f64, 3));
  CHECK_FALSE(tape.tangents(std::array{y}, std::array{apart}, std::array{apart})[0].is_of_tape());
}

}  // namespace
}  // namespace lagtape::test
