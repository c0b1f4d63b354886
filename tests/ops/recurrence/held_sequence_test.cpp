#include "lagtape/ops/recurrence/held_sequence.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/recurrence/oracle/unroll.h"
#include "lagtape/ops/recurrence/sequence.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// A forward pass that waits for its gradients, against the unrolled tape and against the op that runs forward
// again.

namespace lagtape {
namespace {

using namespace test;

Tensor numbers_like(const Tensor& tensor, std::uint64_t seed) {
  RandomStream random(seed, 3);
  return random_tensor(random, tensor.shape(), 1).to(tensor.dtype());
}

/// Fixed numbers that multiply outputs and final window in the loss.
struct Cotangents {
  Tensor outputs;
  std::vector<Tensor> window;
};

Cotangents cotangents(const SequenceCase& c, bool window) {
  const Results results = run_evaluate(c);
  Cotangents numbers{numbers_like(named(results, "outputs"), 1), {}};
  for (std::size_t i = 1; window && i < results.size(); ++i)
    numbers.window.push_back(numbers_like(results[i].tensor, 10 + i));
  return numbers;
}

Results by_name(const SequenceGradients& gradients) {
  Results results;
  for (const Tensor& g : gradients.weights) results.push_back({text_of("d weight ", results.size()), g});
  results.push_back({"d x", gradients.x});
  for (const Tensor& g : gradients.initial) results.push_back({text_of("d state ", results.size()), g});
  return results;
}

HeldOutputs forward(const SequenceCase& c, const HeldSequence& op, ThreadPool& pool) {
  return op.forward(c.weights, c.batch, pool, c.initial,
                    {.weights = true, .x = true, .initial = !c.initial.empty()});
}

Results run_pass(const SequenceCase& c, const Cotangents& from, const SequenceSettings& settings = {},
                 int threads = 1) {
  ThreadPool pool(threads);
  const HeldSequence op(c.stack, c.dtype(), settings);
  HeldOutputs outputs = forward(c, op, pool);
  Results results = by_name(outputs.backward(from.outputs, from.window));
  results.push_back({"outputs", outputs.outputs()});
  for (const Tensor& state : outputs.final_window().states) results.push_back({"window", state});
  return results;
}

Results run_oracle(const SequenceCase& c, const Cotangents& from) {
  Tape tape;
  std::vector<Var> inputs;
  for (const Tensor& tensor : differentiable(c)) inputs.push_back(tape.variable(tensor));
  const std::span<const Var> all(inputs);
  const std::size_t weights = c.weights.size();
  std::vector<Var> window;
  const Var y = unroll_outputs(tape, c.stack, all.first(weights), all[weights], c.batch,
                               all.subspan(weights + 1), &window);
  Var loss = sum(y * tape.constant(from.outputs));
  for (std::size_t s = 0; s < from.window.size(); ++s) {
    if (window[s].dtype() != loss.dtype()) continue;
    loss = loss + sum(window[s] * tape.constant(from.window[s]));
  }
  tape.backward(loss);
  SequenceGradients gradients;
  for (std::size_t i = 0; i < weights; ++i) gradients.weights.push_back(inputs[i].grad());
  gradients.x = inputs[weights].grad();
  for (std::size_t i = weights + 1; i < inputs.size(); ++i) gradients.initial.push_back(inputs[i].grad());
  Results results = by_name(gradients);
  results.push_back({"outputs", y.value().clone()});
  for (const Var& state : window) results.push_back({"window", state.value().clone()});
  return results;
}

SequenceSettings some_settings(std::uint64_t seed) {
  constexpr MemoryPlan kPlans[] = {MemoryPlan::automatic, MemoryPlan::full, MemoryPlan::states,
                                   MemoryPlan::checkpoint};
  SequenceSettings settings;
  settings.plan = kPlans[seed % 4];
  settings.chunk = seed / 4 % 3 * 16;
  return settings;
}

bool reads_all_states(const SequenceCase& c) {
  return std::ranges::all_of(c.stack.layers, [](const StepProgram& layer) {
    for (int s = 0; s < static_cast<int>(layer.states.size()); ++s)
      if (std::ranges::none_of(layer.values, [&](const Instruction& value) {
            return (value.op == StepOp::state || value.op == StepOp::lag) && value.index == s;
          }))
        return false;
    return true;
  });
}

TEST_CASE("a pass that waits gives the gradients of the unrolled tape, through the final window too" *
          doctest::test_suite("slow")) {
  std::int64_t with_window = 0;
  for_each_seed("a pass that waits gives the gradients of the unrolled tape, through the final window too",
                600, [&](std::uint64_t seed) {
                  SequenceCase c = random_case(seed);
                  c.stack.loss = Loss::none;
                  const bool window = reads_all_states(c);
                  with_window += window ? 1 : 0;
                  const Cotangents from = cotangents(c, window);
                  return differences(run_pass(c, from, some_settings(seed), 1 + static_cast<int>(seed % 3)),
                                     run_oracle(c, from), 1e-12);
                });
  CHECK(with_window > 100);
}

TEST_CASE("a pass that runs backwards in time takes gradients of its final window") {
  for_each_seed("a pass that runs backwards in time takes gradients of its final window", 100,
                [](std::uint64_t seed) {
                  SequenceCase c = random_case(seed, {.reversible = true});
                  c.stack.loss = Loss::none;
                  const Cotangents from = cotangents(c, reads_all_states(c));
                  return bit_differences(run_pass(c, from, {.plan = MemoryPlan::reversible}),
                                         run_pass(c, from, {.plan = MemoryPlan::full}));
                });
}

TEST_CASE("a window longer than its sequence hands gradients on to the window before") {
  StackDefinition stack;
  stack.layers = {tau_gru(5, 3, 30)};
  SequenceCase c = filled(stack, 4, 12, 1);
  add_initial(c, 2);
  const Cotangents from = cotangents(c, true);
  const Results expected = run_oracle(c, from);
  CHECK(differences(run_pass(c, from), expected, 1e-12) == "");
  add_lengths(c, 3);
  const Cotangents shorter = cotangents(c, true);
  CHECK(differences(run_pass(c, shorter), run_oracle(c, shorter), 1e-12) == "");
}

TEST_CASE("a pass that waits gives the op's bits for every plan, also when passes are mixed") {
  StackDefinition stack;
  stack.layers = {tau_gru(16, 3, 20), lstm(7, 16)};
  const SequenceCase c = converted(filled(stack, 40, 90, 1), Dtype::f32);
  const Cotangents from = cotangents(c, true);
  const Results expected = run_pass(c, from);
  for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states, MemoryPlan::checkpoint})
    for (const int threads : {1, 2})
      CHECK(bit_differences(run_pass(c, from, {.plan = plan}, threads), expected) == "");

  // Other weights in between, a second backward pass, and a pass that is gone.
  ThreadPool pool(2);
  std::optional<HeldSequence> op(std::in_place, c.stack, c.dtype());
  HeldOutputs outputs = forward(c, *op, pool);
  SequenceCase other = c;
  for (Tensor& weight : other.weights) weight = numbers_like(weight, 5);
  { HeldOutputs dropped = forward(other, *op, pool); }
  HeldOutputs second = forward(other, *op, pool);
  op.reset();
  const Results once = by_name(outputs.backward(from.outputs, from.window));
  second.backward(from.outputs, from.window);
  const Results again = by_name(outputs.backward(from.outputs, from.window));
  CHECK(bit_differences(again, once) == "");
  for (const NamedTensor& result : once)
    CHECK(bit_difference(result.tensor, named(expected, result.name)) == "");
  const Results others = by_name(second.backward(from.outputs, from.window));
  CHECK(bit_difference(others.front().tensor, once.front().tensor) != "");
}

TEST_CASE("without a gradient of the outputs only the window's count") {
  StackDefinition stack;
  stack.layers = {lstm(5, 3)};
  const SequenceCase c = filled(stack, 3, 20, 1);
  Cotangents from = cotangents(c, true);
  from.outputs.fill(0);
  ThreadPool pool(1);
  const HeldSequence op(c.stack, c.dtype());
  HeldOutputs outputs = forward(c, op, pool);
  CHECK(bit_differences(by_name(outputs.backward({}, from.window)),
                        by_name(outputs.backward(from.outputs, from.window))) == "");
  std::vector<Tensor> second_alone = {Tensor(), from.window[1]};
  CHECK(bit_differences(by_name(outputs.backward({}, second_alone)),
                        by_name(outputs.backward({}, from.window))) != "");
  CHECK_THROWS_WITH_AS(outputs.backward(Tensor({3, 20, 4}, Dtype::f64)),
                       "[sequence] gradient of the outputs: expected f64 [3, 20, 5], got f64 [3, 20, 4]",
                       InputError);
  CHECK_THROWS_WITH_AS(outputs.backward({}, {from.window[0]}),
                       "[sequence] expected a gradient for each of the final window's 2 states, got 1",
                       InputError);
}

TEST_CASE("a state that is read through lags alone has a gradient of its final window") {
  for (const std::string step :
       {"h' = tanh(W @ h[-2] + U @ x)", "h' = tanh(W @ h[-2] + 0.1 * h[-20] + U @ x)"}) {
    StackDefinition stack;
    stack.layers = {equations(4, 2, {"W [units, units]", "U [units, input]"}, {step})};
    SequenceCase c = filled(stack, 5, 70, 1);
    add_initial(c, 2);
    add_lengths(c, 3);
    const Cotangents from = cotangents(c, true);
    for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::states, MemoryPlan::checkpoint})
      for (const std::int64_t chunk : {0, 16})
        CHECK(differences(run_pass(c, from, {.plan = plan, .chunk = chunk}), run_oracle(c, from), 1e-12) ==
              "");
  }
}

TEST_CASE("a state that is read through a trained lag alone has none") {
  StackDefinition stack;
  stack.layers = {equations_of(4, 2, {"h [units]"}, {"W [units, units]", "U [units, input]", "tau []"},
                               {"tau at most 9"}, {"h' = tanh(W @ h[-tau] + U @ x)"}, "h'")};
  const SequenceCase c = filled(stack, 2, 20, 1);
  const Cotangents from = cotangents(c, true);
  ThreadPool pool(1);
  const HeldSequence op(c.stack, c.dtype());
  HeldOutputs outputs = forward(c, op, pool);
  CHECK_THROWS_WITH_AS(
      outputs.backward(from.outputs, from.window),
      "[sequence] the final window has a gradient where steps read their states at a fixed lag or "
      "at once. Layer 0 does not read h so. Leave its window out of the loss.",
      InputError);
}

TEST_CASE("a pass needs memory for all of its batch at a time") {
  StackDefinition stack;
  stack.layers = {lstm(64, 3)};
  const SequenceCase c = converted(filled(stack, 64, 200, 1), Dtype::f32);
  ThreadPool pool(1);
  SequenceSettings settings{.plan = MemoryPlan::full};
  settings.budget = SequenceOp(c.stack, c.dtype(), settings).choose(64, 200, 1).bytes;
  const HeldSequence op(c.stack, c.dtype(), settings);
  CHECK_THROWS_AS(forward(c, op, pool), InputError);
}

}  // namespace
}  // namespace lagtape
