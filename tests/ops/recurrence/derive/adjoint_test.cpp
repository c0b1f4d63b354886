#include <doctest/doctest.h>

#include <algorithm>

#include "lagtape/ops/recurrence/derive/adjoint.h"
#include "lagtape/ops/recurrence/step/step_tape.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"

// Work that the backward pass of a step saves. Tests of its results would not notice if it were done after
// all.

namespace lagtape {
namespace {

using namespace recurrence;
using namespace test;

std::ptrdiff_t negations(const LayerOps& ops) {
  std::ptrdiff_t count = 0;
  for (const Ops* list : in_backward_order(ops.backward))
    count += std::ranges::count_if(
        *list, [](const Op& op) { return op.kind == Op::Kind::element && op.element == ElementOp::negate; });
  return count;
}

TEST_CASE(
    "a negative adjoint of several readers is made once, and a state without products has no sum of them") {
  StepTape tape(8);
  const StepVar z = tape.state("z", RowShape::vector(16));
  const StepVar next = z - tanh(product(tape.matrix("W", 16, 8), tape.input()) + tape.vector("b", 16));
  tape.set_next(z, next);
  tape.set_output(next);
  const LayerOps ops = derive_ops(tape.finish(), false);
  REQUIRE(ops.matrix_gradients.size() == 1);
  REQUIRE(ops.vector_gradients.size() == 1);
  CHECK(ops.matrix_gradients[0].delta == ops.vector_gradients[0].adjoint);
  CHECK(negations(ops) == 1);
  CHECK(ops.direct[0].element >= 0);
  CHECK(ops.direct[0].product == -1);

  CHECK(derive_ops(tau_gru(16, 2, 4), false).direct[0].product >= 0);
}

}  // namespace
}  // namespace lagtape
