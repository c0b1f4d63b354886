#include <doctest/doctest.h>

#include "lagtape/core/error.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// One model, one answer: what may not change a bit.

namespace lagtape {
namespace {

using namespace test;

SequenceCase classifier(Dtype dtype, std::int64_t rows, std::int64_t steps) {
  StackDefinition stack;
  stack.layers = {tau_gru(13, 3, 7), two_states(6, 13, 2, 19)};
  stack.readout = linear_readout(stack.output_width(), 4);
  stack.at = ReadAt::every_step;
  stack.loss = Loss::cross_entropy;
  SequenceCase c = filled(stack, rows, steps, 1);
  add_initial(c, 2);
  add_lengths(c, 3);
  return converted(c, dtype);
}

TEST_CASE("loss and gradients have the same bits for 1, 2 and 3 threads") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const SequenceCase c = classifier(dtype, 37, 41);
    const Results one = run_op(c, {}, 1);
    for (const int threads : {2, 3}) CHECK(bit_differences(run_op(c, {}, threads), one) == "");
  }
}

TEST_CASE("loss and gradients have the same bits for every plan and chunk") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    SequenceCase c = classifier(dtype, 9, 75);
    for (const std::int64_t first_step : {0, 16, 21}) {
      c.batch.first_step = first_step;
      const Results expected = run_op(c);
      for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states, MemoryPlan::checkpoint}) {
        for (const std::int64_t chunk : {0, 16, 32, 64, 128}) {
          CAPTURE(name_of(plan));
          CAPTURE(chunk);
          CAPTURE(first_step);
          CHECK(bit_differences(run_op(c, {.plan = plan, .chunk = chunk}, 2), expected) == "");
        }
      }
    }
  }
}

TEST_CASE("an op gives the same bits when it is used again, for other batches in between") {
  const SequenceCase c = classifier(Dtype::f32, 9, 41), other = classifier(Dtype::f32, 20, 7);
  ThreadPool pool(2);
  SequenceOp op(c.stack, c.dtype());
  const auto run = [&](const SequenceCase& batch) {
    Tape tape;
    std::vector<Var> inputs;
    for (const Tensor& tensor : differentiable(batch)) inputs.push_back(tape.variable(tensor));
    const Var value = scalar_op(tape, batch, inputs, op, pool);
    tape.backward(value);
    Results results = {{"value", value.value().clone()}};
    for (const Var& input : inputs) results.push_back({"gradient", input.grad()});
    return results;
  };
  const Results first = run(c);
  run(other);
  op.evaluate(c.weights, c.batch, pool);
  CHECK(bit_differences(run(c), first) == "");
}

TEST_CASE("at every SIMD level, rows of a batch of 37 have the bits that they have alone") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const SequenceCase c = classifier(dtype, 37, 23);
    for (const SimdLevel level : supported_levels()) {
      CAPTURE(name_of(level));
      const Results batch = run_evaluate(c, {.level = level}, 2);
      for (const std::int64_t row : {0, 1, 12, 35, 36})
        CHECK(bit_differences(run_evaluate(only_row(c, row), {.level = level}), row_of(batch, c, row)) == "");
    }
  }
}

TEST_CASE("evaluate has the bits of outputs, for every chunk") {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    SequenceCase c = classifier(dtype, 9, 41);
    c.stack.loss = Loss::none;
    for (const ReadAt at : {ReadAt::every_step, ReadAt::last_step, ReadAt::last_padded_step, ReadAt::mean}) {
      c.stack.at = at;
      const Results outputs = run_op(c, {.plan = MemoryPlan::states});
      for (const std::int64_t chunk : {0, 16, 48}) {
        const Results evaluated = run_evaluate(c, {.chunk = chunk});
        for (const NamedTensor& result : evaluated)
          CHECK(bit_difference(result.tensor, named(outputs, result.name)) == "");
      }
    }
  }
}

TEST_CASE("outputs at every step beyond a row's length are zeros") {
  const SequenceCase c = classifier(Dtype::f64, 9, 41);
  const Tensor y = named(run_evaluate(c), "outputs");
  for (std::int64_t row = 0; row < 9; ++row) {
    for (std::int64_t i = c.batch.lengths[row] * 4; i < 41 * 4; ++i) CHECK(y.at(row * 41 * 4 + i) == 0);
  }
}

TEST_CASE("draws do not change with the place of a sequence in its batch") {
  StackDefinition stack;
  stack.layers = {equations(5, 2, {"W [units, units]", "U [units, input]"},
                            {"h' = tanh(W @ h + U @ x) * (uniform(5) + normal_once(5))"})};
  SequenceCase c = filled(stack, 12, 20, 4);
  for (std::int64_t row = 0; row < 12; ++row) c.batch.draws.sequences.push_back(100 + 7 * row);
  const Results batch = run_evaluate(c);
  for (const std::int64_t row : {0, 5, 11})
    CHECK(bit_differences(run_evaluate(only_row(c, row)), row_of(batch, c, row)) == "");

  SequenceCase others = c;
  others.batch.draws.sequences[3] = 5;
  CHECK(bit_differences(row_of(run_evaluate(others), c, 2), row_of(batch, c, 2)) == "");
  CHECK(bit_differences(row_of(run_evaluate(others), c, 3), row_of(batch, c, 3)) != "");
}

}  // namespace
}  // namespace lagtape
