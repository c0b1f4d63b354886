#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// Named cells at the sizes where kernels, runs, blocks and chunks end: the sequence op against the unrolled
// tape.

namespace lagtape {
namespace {

using namespace test;

StackDefinition regression(std::vector<StepProgram> layers, ReadAt at = ReadAt::every_step) {
  StackDefinition stack;
  stack.layers = std::move(layers);
  stack.readout = linear_readout(stack.output_width(), 2);
  stack.at = at;
  stack.loss = Loss::mse;
  return stack;
}

void check_case(const SequenceCase& c) {
  const Results expected = run_unrolled(c);
  for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states, MemoryPlan::checkpoint}) {
    for (const std::int64_t chunk : {std::int64_t{0}, recurrence::kRun, 3 * recurrence::kRun}) {
      for (const SimdLevel level : supported_levels()) {
        CAPTURE(name_of(plan));
        CAPTURE(chunk);
        CAPTURE(name_of(level));
        CHECK(differences(run_op(c, {.plan = plan, .chunk = chunk, .level = level}), expected, 1e-12) == "");
      }
    }
  }
}

TEST_CASE("tau-GRU agrees with the unrolled tape for lags of 0, 1, T-1, T and T+3") {
  for (const std::int64_t steps : {1, 15, 16, 17, 50}) {
    for (const std::int64_t lag : {std::int64_t{0}, std::int64_t{1}, steps - 1, steps, steps + 3}) {
      CAPTURE(steps);
      CAPTURE(lag);
      SequenceCase c = filled(regression({tau_gru(6, 2, lag)}), 3, steps, 1);
      add_initial(c, 2);
      check_case(c);
    }
  }
}

TEST_CASE("tau-GRU agrees with the unrolled tape for one unit, odd numbers of units and one row") {
  for (const std::int64_t units : {1, 5, 8, 16, 17, 33}) {
    for (const std::int64_t rows : {1, 9}) {
      CAPTURE(units);
      CAPTURE(rows);
      check_case(filled(regression({tau_gru(units, 3, 4)}, ReadAt::last_step), rows, 21, 3));
    }
  }
}

TEST_CASE("delay GRU, LSTM and a cell with two states agree with the unrolled tape") {
  for (const ReadAt at : {ReadAt::every_step, ReadAt::last_step, ReadAt::last_padded_step, ReadAt::mean}) {
    for (const StepProgram& program : {delay_gru(7, 3, 5), lstm(7, 3), two_states(5, 3, 2, 9)}) {
      CAPTURE(static_cast<int>(at));
      CAPTURE(program.states[0].name);
      SequenceCase c = filled(regression({program}, at), 7, 37, 4);
      add_initial(c, 5);
      add_lengths(c, 6);
      check_case(c);
    }
  }
}

TEST_CASE("stacks of layers agree with the unrolled tape") {
  const StepProgram top = tau_gru(4, 2, 3);
  SequenceCase c = filled(regression({tau_gru(5, 3, 11), two_states(6, 5, 1, 20), top}), 10, 40, 7);
  add_initial(c, 8);
  add_lengths(c, 9);
  check_case(c);
}

TEST_CASE("every loss agrees with the unrolled tape") {
  for (const ReadAt at : {ReadAt::every_step, ReadAt::last_step, ReadAt::mean}) {
    for (const Loss loss : {Loss::none, Loss::mse, Loss::cross_entropy, Loss::binary_cross_entropy}) {
      CAPTURE(name_of(loss));
      StackDefinition stack;
      stack.layers = {lstm(5, 2)};
      stack.readout = linear_readout(5, loss == Loss::binary_cross_entropy ? 1 : 4);
      stack.at = at;
      stack.loss = loss;
      SequenceCase c = filled(stack, 6, 19, 10);
      add_lengths(c, 11);
      check_case(c);
      c.stack.readout = {};
      if (loss != Loss::none && loss != Loss::mse) continue;
      c = filled(c.stack, 6, 19, 10);
      check_case(c);
    }
  }
}

TEST_CASE("a long lag over many chunks agrees with the unrolled tape") {
  SequenceCase c = filled(regression({tau_gru(3, 1, 65)}, ReadAt::last_step), 2, 200, 12);
  check_case(c);
}

}  // namespace
}  // namespace lagtape
