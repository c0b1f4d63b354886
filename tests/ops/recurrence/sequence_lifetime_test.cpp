#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

namespace lagtape {
namespace {

using namespace test;

SequenceCase two_layers() {
  StackDefinition stack;
  stack.layers = {tau_gru(5, 3, 2), lstm(4, 5)};
  return filled(stack, 3, 40, 1);
}

/// The fate of a sequence op between the recording of its outputs and the backward pass.
enum class Fate { stays, is_destroyed, is_replaced };

/// dL/dx of the sum of the outputs.
Tensor input_gradient(const SequenceCase& c, Fate fate) {
  ThreadPool pool(1);
  Tape tape;
  std::optional<SequenceOp> op(std::in_place, c.stack, c.dtype());
  const Var x = tape.variable(c.batch.x);
  std::vector<Var> weights;
  for (const Tensor& w : c.weights) weights.push_back(tape.variable(w));
  const Var y = op->outputs(tape, weights, x, c.batch, pool);
  if (fate == Fate::is_destroyed) op.reset();
  if (fate == Fate::is_replaced) {
    StackDefinition other;
    other.layers = {lstm(7, 2)};
    *op = SequenceOp(other, Dtype::f32);
  }
  Tensor ones(y.shape(), y.dtype());
  for (double& value : ones.values<double>()) value = 1;
  tape.backward(y, ones);
  return x.grad();
}

TEST_CASE(
    "a sequence op that is destroyed or replaced while its outputs are on a tape still gives their "
    "gradients") {
  const SequenceCase c = two_layers();
  const Tensor expected = input_gradient(c, Fate::stays);
  double largest = 0;
  for (const double value : expected.values<double>()) largest = std::max(largest, std::abs(value));
  CHECK(largest > 1e-3);
  for (const Fate fate : {Fate::is_destroyed, Fate::is_replaced}) {
    const Tensor gradient = input_gradient(c, fate);
    CHECK(std::ranges::equal(gradient.values<double>(), expected.values<double>()));
  }
}

}  // namespace
}  // namespace lagtape
