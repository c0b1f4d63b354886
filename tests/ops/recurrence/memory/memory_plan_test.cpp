#include <doctest/doctest.h>

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// The costs that plans state, compared with the measured ones, and the choice among plans.

namespace lagtape {
namespace {

using namespace test;

StackDefinition stack_of(ReadAt at) {
  StackDefinition stack;
  stack.layers = {tau_gru(16, 2, 20), tau_gru(8, 16, 70)};
  stack.readout = linear_readout(8, 3);
  stack.at = at;
  stack.loss = Loss::cross_entropy;
  return stack;
}

PlanCost cost_of(const std::vector<PlanCost>& plans, MemoryPlan plan) {
  const auto found = std::ranges::find(plans, plan, &PlanCost::plan);
  REQUIRE(found != plans.end());
  return *found;
}

/// The peak of a training step.
std::int64_t peak(SequenceOp& op, const SequenceCase& c, int threads) {
  ThreadPool pool(threads);
  Tape tape;
  std::vector<Var> inputs;
  for (const Tensor& tensor : differentiable(c)) inputs.push_back(tape.variable(tensor));
  tape.backward(scalar_op(tape, c, inputs, op, pool));
  return op.peak_bytes();
}

TEST_CASE("the peak of a plan is what it says, within a tenth") {
  for (const ReadAt at : {ReadAt::every_step, ReadAt::last_step}) {
    for (const std::int64_t steps : {50, 400}) {
      for (const int threads : {1, 2}) {
        const SequenceCase c = converted(filled(stack_of(at), 24, steps, 1), Dtype::f32);
        for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states, MemoryPlan::checkpoint}) {
          CAPTURE(name_of(plan));
          CAPTURE(steps);
          CAPTURE(threads);
          SequenceOp op(c.stack, Dtype::f32, {.plan = plan});
          const double said = static_cast<double>(cost_of(op.plans(24, steps, threads), plan).bytes);
          const double was = static_cast<double>(peak(op, c, threads));
          CHECK(was <= 1.1 * said);
          if (threads == 1) CHECK(was >= 0.9 * said);  // with two threads, one may do all the work
        }
      }
    }
  }
}

TEST_CASE("in bf16 the peak of a plan is what it says, within a tenth") {
  for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states, MemoryPlan::checkpoint}) {
    CAPTURE(name_of(plan));
    SequenceCase c = converted(filled(stack_of(ReadAt::last_step), 24, 400, 1), Dtype::f32);
    c.stack.products = ProductFormat::bf16;
    SequenceOp op(c.stack, Dtype::f32, {.plan = plan});
    const double said = static_cast<double>(cost_of(op.plans(24, 400, 1), plan).bytes);
    const double was = static_cast<double>(peak(op, c, 1));
    CHECK(was <= 1.1 * said);
    CHECK(was >= 0.9 * said);
  }
}

TEST_CASE("in bf16 the saved values take half of the bytes, and the states as many as in f32") {
  StackDefinition stack;
  stack.layers = {tau_gru(128, 1, 65)};
  stack.readout = linear_readout(128, 10);
  stack.at = ReadAt::last_step;
  stack.loss = Loss::cross_entropy;
  const auto bytes = [&](ProductFormat products, MemoryPlan plan) {
    StackDefinition own = stack;
    own.products = products;
    return static_cast<double>(cost_of(SequenceOp(own, Dtype::f32).plans(128, 784, 2), plan).bytes);
  };
  const double full = bytes(ProductFormat::bf16, MemoryPlan::full);
  CHECK(full <= 0.65 * bytes(ProductFormat::scalar, MemoryPlan::full));
  const double rows = 2 * 13, units = 128;  // two slices are worked on
  CHECK(full >= rows * units * 784 * (sizeof(float) + 4 * 2));
}

TEST_CASE("the peak of running backwards is what the plan says, however long the sequence") {
  const StackDefinition stack{.layers = {oscillators(16, 2), oscillators(8, 16)},
                              .readout = linear_readout(8, 3),
                              .at = ReadAt::last_step,
                              .loss = Loss::cross_entropy};
  for (const std::int64_t steps : {100, 1000}) {
    const SequenceCase c = converted(filled(stack, 24, steps, 1), Dtype::f32);
    SequenceOp op(c.stack, Dtype::f32, {.plan = MemoryPlan::reversible});
    const double said = static_cast<double>(cost_of(op.plans(24, steps, 1), MemoryPlan::reversible).bytes);
    const double was = static_cast<double>(peak(op, c, 1));
    CHECK(was <= 1.1 * said);
    CHECK(was >= 0.9 * said);
  }
}

TEST_CASE("keeping the states alone takes less memory and more work") {
  SequenceOp op(stack_of(ReadAt::last_step), Dtype::f32);
  const std::vector<PlanCost> plans = op.plans(32, 1000, 2);
  const PlanCost full = cost_of(plans, MemoryPlan::full), states = cost_of(plans, MemoryPlan::states);
  CHECK(states.bytes < full.bytes);
  CHECK(full.extra_flops == 0);
  CHECK(states.extra_flops > 0);
  CHECK(op.plans(32, 2000, 2)[0].bytes > op.plans(32, 1000, 2)[0].bytes);
}

TEST_CASE("the states of a delay cell are most of what keeping them takes") {
  const std::int64_t units = 128, batch = 128, steps = 784, tau = 65;
  StackDefinition stack;
  stack.layers = {tau_gru(units, 1, tau)};
  stack.readout = linear_readout(units, 10);
  stack.at = ReadAt::last_step;
  stack.loss = Loss::cross_entropy;
  const SequenceOp op(stack, Dtype::f32);
  const std::vector<PlanCost> plans = op.plans(batch, steps, 2);
  const std::int64_t states = cost_of(plans, MemoryPlan::states).bytes;
  CHECK(4 * states <= cost_of(plans, MemoryPlan::full).bytes);
  const std::int64_t rows = 2 * 13;  // two slices are worked on
  CHECK(4 * states <= 5 * rows * (steps + tau + 1) * units * static_cast<std::int64_t>(sizeof(float)));
}

TEST_CASE("the bytes of a plan count the gradient of the input") {
  StackDefinition stack;
  stack.layers = {tau_gru(16, 300, 2)};
  stack.loss = Loss::mse;
  const SequenceCase c = converted(filled(stack, 24, 100, 1), Dtype::f32);
  SequenceOp op(stack, Dtype::f32, {.plan = MemoryPlan::states});
  const std::int64_t budget = cost_of(op.plans(24, 100, 1), MemoryPlan::states).bytes;
  CHECK(peak(op, c, 1) > budget);  // here x has a gradient
  SequenceOp tight(stack, Dtype::f32, {.plan = MemoryPlan::states, .budget = budget});
  CHECK_THROWS_WITH_AS(peak(tight, c, 1), doctest::Contains("needs "), InputError);
}

TEST_CASE("the fastest plan that fits is taken, and none is an error that says how much is needed") {
  const StackDefinition stack = stack_of(ReadAt::last_step);
  SequenceOp op(stack, Dtype::f32);
  const std::vector<PlanCost> plans = op.plans(32, 1000, 1);
  const std::int64_t full = cost_of(plans, MemoryPlan::full).bytes,
                     states = cost_of(plans, MemoryPlan::states).bytes;
  const auto chosen = [&](std::int64_t budget) {
    return SequenceOp(stack, Dtype::f32, {.budget = budget}).choose(32, 1000, 1);
  };
  CHECK(op.choose(32, 1000, 1).plan == plans[0].plan);
  CHECK(chosen(full).plan == MemoryPlan::full);
  CHECK(chosen(full - 1).plan == MemoryPlan::states);
  CHECK(chosen(states).plan == MemoryPlan::states);
  CHECK(chosen(states - 1).plan == MemoryPlan::checkpoint);
  CHECK(chosen(states - 1).bytes < states);
  CHECK_THROWS_WITH_AS(chosen(1000), doctest::Contains("needs "), InputError);

  SequenceOp tight(stack, Dtype::f32, {.budget = states});
  const SequenceCase c = converted(filled(stack, 32, 1000, 2), Dtype::f32);
  CHECK(static_cast<double>(peak(tight, c, 1)) <= 1.1 * static_cast<double>(states));
}

TEST_CASE("evaluation keeps windows alone, however long the sequence") {
  const auto used = [&](std::int64_t steps) {
    const SequenceCase c = converted(filled(stack_of(ReadAt::last_step), 8, steps, 3), Dtype::f32);
    ThreadPool pool(1);
    SequenceOp op(c.stack, Dtype::f32);
    op.evaluate(c.weights, c.batch, pool);
    return op.peak_bytes();
  };
  CHECK(used(4000) == used(400));
}

}  // namespace
}  // namespace lagtape
