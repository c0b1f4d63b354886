#include "lagtape/ops/recurrence/stream/linked_step.h"

#include <doctest/doctest.h>

#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// The tests of streams, whose single steps a linked step runs, compare its bits with those of the sequence
// op.

namespace lagtape {
namespace {

using namespace recurrence;
using namespace test;

template <class T>
bool is_planned(const StackDefinition& stack, SimdLevel level, bool compile) {
  return LinkedStep<T>::takes(CompiledStack<T>(stack, false, kernels<T>(level), compile));
}

template <class T>
bool is_compiled(const StackDefinition& stack, SimdLevel level) {
  const CompiledStack<T> compiled(stack, false, kernels<T>(level), true);
  for (const Stage& stage : compiled.schedule(0).forward.step)
    if (const auto* elements = std::get_if<ElementStage>(&stage);
        elements != nullptr && elements->compiled == nullptr)
      return false;
  return true;
}

TEST_CASE_TEMPLATE("a stack is planned when its element-wise stages are machine code", T, float, double) {
  StackDefinition stack;
  stack.layers = {tau_gru(13, 3, 5), tau_gru(6, 13, 2)};
  stack.readout = linear_readout(stack.output_width(), 4);
  for (const SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    CHECK(is_planned<T>(stack, level, true) == is_compiled<T>(stack, level));
    CHECK(!is_planned<T>(stack, level, false));
  }
  CHECK(!is_planned<T>(stack, SimdLevel::generic, true));
}

TEST_CASE("work that is not element-wise is left to the runners") {
  StackDefinition stack;
  stack.layers = {equations(5, 2, {"W [units, units]", "U [units, input]"},
                            {"h' = tanh(W @ h + U @ x + 0.1 * sin(0.3 * n))"})};
  CHECK(!is_planned<float>(stack, best_level(), true));
}

}  // namespace
}  // namespace lagtape
