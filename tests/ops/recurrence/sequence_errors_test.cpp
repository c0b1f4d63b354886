#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

namespace lagtape {
namespace {

using namespace test;

SequenceCase fitting(Loss loss = Loss::mse) {
  StackDefinition stack;
  stack.layers = {tau_gru(4, 3, 2)};
  stack.readout = linear_readout(4, 2);
  stack.loss = loss;
  return filled(stack, 2, 5, 1);
}

/// Checks that a case that was bent is refused with that text.
template <class Bend>
void check_refused(const char* text, Bend bend, Loss loss = Loss::mse) {
  SequenceCase c = fitting(loss);
  bend(c);
  CHECK_THROWS_WITH_AS(run_op(c), doctest::Contains(text), InputError);
}

TEST_CASE("a batch that does not fit the stack is refused with what was found and expected") {
  check_refused("got f64 [2, 5, 4]", [](SequenceCase& c) { c.batch.x = Tensor({2, 5, 4}, Dtype::f64); });
  check_refused("got f64 [5, 3]", [](SequenceCase& c) { c.batch.x = Tensor({5, 3}, Dtype::f64); });
  check_refused("lengths: expected one for each of 2 rows, got 3", [](SequenceCase& c) {
    c.batch.lengths = {1, 2, 3};
  });
  check_refused("1 .. 5, got 6", [](SequenceCase& c) { c.batch.lengths = {5, 6}; });
  check_refused("1 .. 5, got 0", [](SequenceCase& c) { c.batch.lengths = {0, 5}; });
  check_refused("draws: expected one for each of 2 rows, got 1",
                [](SequenceCase& c) { c.batch.draws.sequences = {7}; });
  check_refused("first_step: expected at least 0, got -1", [](SequenceCase& c) { c.batch.first_step = -1; });
}

TEST_CASE("weights, windows and targets that do not fit are refused with both shapes") {
  check_refused("18 weights, got 17", [](SequenceCase& c) { c.weights.pop_back(); });
  check_refused("f64 [4, 4], got f64 [4, 5]", [](SequenceCase& c) {
    c.weights[4] = Tensor({4, 5}, Dtype::f64);
  });
  check_refused("f64 [4, 4], got f32 [4, 4]",
                [](SequenceCase& c) { c.weights[4] = c.weights[4].to(Dtype::f32); });
  check_refused("f64 [3, 2, 4], got f64 [2, 2, 4]", [](SequenceCase& c) {
    c.initial = {Tensor({2, 2, 4}, Dtype::f64)};
  });
  check_refused("1 states, got 2", [](SequenceCase& c) {
    c.initial = {Tensor({3, 2, 4}, Dtype::f64), Tensor({3, 2, 4}, Dtype::f64)};
  });
  check_refused("f64 [2, 5, 2], got f64 [2, 2]", [](SequenceCase& c) {
    c.batch.targets = Tensor({2, 2}, Dtype::f64);
  });
}

TEST_CASE("classes that are missing or out of range are refused") {
  check_refused(
      "classes: expected 10, got 9", [](SequenceCase& c) { c.batch.classes.pop_back(); },
      Loss::cross_entropy);
  check_refused(
      "0 .. 1, or -1 for none, got 2", [](SequenceCase& c) { c.batch.classes[3] = 2; }, Loss::cross_entropy);
  check_refused(
      "0 .. 1, or -1 for none, got -2", [](SequenceCase& c) { c.batch.classes[3] = -2; },
      Loss::cross_entropy);
}

TEST_CASE("stacks and settings that cannot be are refused") {
  const StackDefinition good = fitting().stack;
  StackDefinition stack = good;
  stack.readout = linear_readout(5, 2);
  CHECK_THROWS_AS(SequenceOp(stack, Dtype::f64), InputError);
  stack = good;
  stack.layers.push_back(tau_gru(4, 3, 2));
  CHECK_THROWS_AS(SequenceOp(stack, Dtype::f64), InputError);
  stack.layers.clear();
  CHECK_THROWS_AS(SequenceOp(stack, Dtype::f64), InputError);
  stack = good;
  stack.readout = tau_gru(2, 4, 1);
  CHECK_THROWS_AS(SequenceOp(stack, Dtype::f64), InputError);
  CHECK_THROWS_AS(SequenceOp(good, Dtype::f64, {.chunk = 17}), InputError);
  CHECK_THROWS_AS(SequenceOp(good, Dtype::f64, {.chunk = -16}), InputError);
}

}  // namespace
}  // namespace lagtape
