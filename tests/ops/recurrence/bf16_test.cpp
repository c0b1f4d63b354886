#include <doctest/doctest.h>

#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"
#include "lagtape/tests/ops/recurrence/support/streamed.h"

// Layers whose products multiply numbers rounded to bf16. With sums in f64 the engine and the unrolled tape,
// which rounds by itself, agree to the last digits: no sum is so near a tie that its own rounding decides.

namespace lagtape {
namespace {

using namespace test;

SequenceCase in_bf16(SequenceCase c, Dtype dtype = Dtype::f64) {
  c.stack.products = ProductFormat::bf16;
  return converted(c, dtype);
}

SequenceSettings some_settings(std::uint64_t seed) {
  constexpr MemoryPlan kPlans[] = {MemoryPlan::automatic, MemoryPlan::full, MemoryPlan::states,
                                   MemoryPlan::checkpoint};
  const std::vector<SimdLevel> levels = supported_levels();
  return {.plan = kPlans[seed % 4],
          .chunk = static_cast<std::int64_t>(seed / 4 % 3) * 16,
          .level = levels[seed / 16 % levels.size()]};
}

TEST_CASE("random stacks in bf16 agree with the unrolled tape that rounds as they do") {
  for_each_seed("random stacks in bf16 agree with the unrolled tape that rounds as they do", 400,
                [](std::uint64_t seed) {
                  const SequenceCase c = in_bf16(random_case(seed));
                  return differences(run_op(c, some_settings(seed), 1 + static_cast<int>(seed % 3)),
                                     run_unrolled(c), 1e-12);
                });
}

TEST_CASE("random reversible stacks in bf16 agree with the unrolled tape that rounds as they do") {
  for_each_seed("random reversible stacks in bf16 agree with the unrolled tape that rounds as they do", 60,
                [](std::uint64_t seed) {
                  const SequenceCase c = in_bf16(random_case(seed, {.reversible = true}));
                  SequenceSettings settings = some_settings(seed);
                  settings.plan = MemoryPlan::reversible;
                  return differences(run_op(c, settings), run_unrolled(c), 1e-7);  // steps of the grid
                });
}

SequenceCase classifier(std::int64_t rows, std::int64_t steps, Dtype dtype = Dtype::f32) {
  StackDefinition stack;
  stack.layers = {tau_gru(13, 3, 7), two_states(6, 13, 2, 19), lstm(17, 2)};
  stack.readout = linear_readout(stack.output_width(), 4);
  stack.at = ReadAt::every_step;
  stack.loss = Loss::cross_entropy;
  SequenceCase c = filled(stack, rows, steps, 1);
  add_initial(c, 2);
  add_lengths(c, 3);
  return in_bf16(c, dtype);
}

TEST_CASE("it is the roundings that agree: without them, forward or backward, results are others") {
  const SequenceCase c = classifier(5, 30, Dtype::f64);
  SequenceCase plain = c;
  plain.stack.products = ProductFormat::scalar;
  CHECK(differences(run_op(c), run_unrolled(c), 1e-12) == "");
  CHECK(differences(run_op(plain), run_unrolled(c), 1e-4) != "");
  CHECK(differences(run_op(plain), run_unrolled(c), 0.2) == "");
}

TEST_CASE("sums in f32 stay near those in f64") {
  const SequenceCase c = classifier(5, 30);
  Results results = run_op(c);
  for (NamedTensor& result : results) result.tensor = result.tensor.to(Dtype::f64);
  CHECK(differences(results, run_unrolled(converted(c, Dtype::f64)), 2e-2) == "");
}

/// The gradients of the weights, with or without that of x.
Results weight_gradients(const SequenceCase& c, bool with_input) {
  SequenceOp op(c.stack, c.dtype());
  ThreadPool pool(1);
  Tape tape;
  std::vector<Var> inputs;
  const std::vector<Tensor> tensors = differentiable(c);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    inputs.push_back(i == c.weights.size() && !with_input ? tape.constant(tensors[i])
                                                          : tape.variable(tensors[i]));
  tape.backward(scalar_op(tape, c, inputs, op, pool));
  Results results;
  for (std::size_t i = 0; i < c.weights.size(); ++i) results.push_back({std::to_string(i), inputs[i].grad()});
  return results;
}

TEST_CASE("in bf16 gradients of weights have the same bits whether that of x is wanted too") {
  for_each_seed("in bf16 gradients of weights have the same bits whether that of x is wanted too", 100,
                [](std::uint64_t seed) {
                  const SequenceCase c = in_bf16(random_case(seed), Dtype::f32);
                  return bit_differences(weight_gradients(c, false), weight_gradients(c, true));
                });
}

TEST_CASE("in bf16 every plan, chunk and number of threads gives the same bits") {
  const SequenceCase c = classifier(37, 75);
  const Results expected = run_op(c);
  for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states, MemoryPlan::checkpoint})
    for (const std::int64_t chunk : {0, 16, 48})
      for (const int threads : {1, 2, 3}) {
        CAPTURE(name_of(plan));
        CAPTURE(chunk);
        CAPTURE(threads);
        CHECK(bit_differences(run_op(c, {.plan = plan, .chunk = chunk}, threads), expected) == "");
      }
}

TEST_CASE("in bf16 the reversible plan has the bits of the others") {
  StackDefinition stack;
  stack.layers = {oscillators(11, 3), oscillators(8, 11)};
  stack.readout = linear_readout(8, 2);
  stack.loss = Loss::mse;
  const SequenceCase c = in_bf16(filled(stack, 9, 50, 4), Dtype::f32);
  CHECK(bit_differences(run_op(c, {.plan = MemoryPlan::reversible}), run_op(c, {.plan = MemoryPlan::full})) ==
        "");
}

TEST_CASE("in bf16 rows have the bits that they have alone, and outputs those of a stream") {
  const SequenceCase c = classifier(37, 23);
  for (const SimdLevel level : supported_levels()) {
    CAPTURE(name_of(level));
    const Results batch = run_evaluate(c, {.level = level}, 2);
    for (const std::int64_t row : {0, 1, 12, 36})
      CHECK(bit_differences(run_evaluate(only_row(c, row), {.level = level}), row_of(batch, c, row)) == "");

    for (const std::int64_t rows : {1, 5}) {
      SequenceCase whole = classifier(rows, 40);
      whole.batch.lengths.clear();
      whole.initial.clear();
      const Tensor expected = steps_first(named(run_evaluate(whole, {.level = level}), "outputs"));
      for (const std::vector<std::int64_t>& blocks : {std::vector<std::int64_t>{1}, {3, 1, 16}, {40}}) {
        Stream<float> stream = stream_of<float>(whole, level);
        CHECK(bit_difference(streamed(stream, whole.batch.x, blocks), expected) == "");
      }
    }
  }
}

TEST_CASE("in bf16 the SIMD levels with fused multiply-adds give the same bits") {
  std::vector<Results> results;
  const SequenceCase c = classifier(12, 40);
  for (const SimdLevel level : supported_levels())
    if (level != SimdLevel::generic) results.push_back(run_op(c, {.level = level}));
  if (results.size() < 2) MESSAGE("this machine has fewer than two such levels: nothing is compared");
  for (const Results& other : results) CHECK(bit_differences(other, results.front()) == "");
}

}  // namespace
}  // namespace lagtape
