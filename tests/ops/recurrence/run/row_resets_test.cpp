#include "lagtape/ops/recurrence/run/row_resets.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "lagtape/ops/recurrence/held_sequence.h"
#include "lagtape/ops/recurrence/step/resets.h"
#include "lagtape/tests/ops/recurrence/support/cells.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

// States that begin again inside sequences: rows against their pieces one by one, and columns of the input against the
// unrolled step that asks for them.

namespace lagtape {
namespace {

using namespace test;
using Mask = std::vector<std::uint8_t>;

SequenceSettings some_settings(std::uint64_t seed) {
  constexpr MemoryPlan kPlans[] = {MemoryPlan::automatic, MemoryPlan::full, MemoryPlan::states,
                                   MemoryPlan::checkpoint};
  SequenceSettings settings;
  settings.plan = kPlans[seed % 4];
  settings.chunk = seed / 4 % 3 * 16;
  return settings;
}

Mask random_mask(const SequenceCase& c, std::uint64_t seed) {
  const RandomStream random(seed, 21);
  const double share = seed % 3 == 0 ? 0.3 : 0.06;
  Mask mask(static_cast<std::size_t>(c.rows() * c.steps()));
  for (std::size_t i = 0; i < mask.size(); ++i)
    mask[i] = random.uniform_at(static_cast<std::int64_t>(i)) < share ? 1 : 0;
  return mask;
}

Tensor fixed_numbers(const Shape& shape, Dtype dtype, std::uint64_t key) {
  Tensor numbers(shape, dtype);
  for (std::int64_t i = 0; i < numbers.numel(); ++i) numbers.set(i, RandomStream(7, key).normal_at(i));
  return numbers;
}

/// Outputs, final window and all gradients of their product with fixed numbers.
struct Pass {
  Tensor outputs;
  std::vector<Tensor> window;
  SequenceGradients gradients;
};

/// A state that is read through trained lags alone takes no gradient.
bool reads_all_states(const SequenceCase& c) {
  for (const StepProgram& layer : c.stack.layers)
    for (int s = 0; s < static_cast<int>(layer.states.size()); ++s)
      if (std::ranges::none_of(layer.values, [&](const Instruction& v) {
            return (v.op == StepOp::state || v.op == StepOp::lag) && v.index == s;
          }))
        return false;
  return true;
}

Pass run(const SequenceCase& c, const SequenceSettings& settings, const Mask& mask, const Tensor& by_outputs,
         const std::vector<Tensor>& by_window) {
  ThreadPool pool(1);
  HeldOutputs held =
      HeldSequence(c.stack, c.dtype(), settings)
          .forward(c.weights, c.batch, pool, c.initial, {.x = true, .initial = !c.initial.empty()}, mask);
  Pass pass{held.outputs(), held.final_window().states, {}};
  pass.gradients = held.backward(by_outputs, by_window);
  return pass;
}

void add(Tensor& to, const Tensor& part) {
  for (std::int64_t i = 0; i < to.numel(); ++i) to.set(i, to.at(i) + part.at(i));
}

/// Writes rows and steps of a part [1, steps, n] or [history, 1, n] into their places.
void put(Tensor& to, std::int64_t axis, std::int64_t row, std::int64_t first, const Tensor& part) {
  const std::int64_t n = to.size(2), rows = axis == 0 ? 1 : part.size(0),
                     steps = axis == 0 ? part.size(1) : 1;
  for (std::int64_t i = 0; i < rows * steps; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      to.set(axis == 0 ? (row * to.size(1) + first + i) * n + j : (i * to.size(1) + row) * n + j,
             part.at(i * n + j));
}

/// The same of the pieces of all rows, each as a batch.
Pass run_pieces(const SequenceCase& c, const Mask& mask, const Tensor& by_outputs,
                const std::vector<Tensor>& by_window) {
  Pass all;
  for (const Tensor& weight : c.weights) all.gradients.weights.emplace_back(weight.shape(), c.dtype());
  all.gradients.x = Tensor(c.batch.x.shape(), c.dtype());
  all.outputs = Tensor(by_outputs.shape(), c.dtype());
  for (const Tensor& state : zero_window(c.stack.layers, c.rows(), c.dtype()).states) {
    all.window.emplace_back(state.shape(), state.dtype());
    if (!c.initial.empty()) all.gradients.initial.emplace_back(state.shape(), state.dtype());
  }
  for (std::int64_t row = 0; row < c.rows(); ++row) {
    const SequenceCase whole = only_row(c, row);
    const std::int64_t length =
        c.batch.lengths.empty() ? c.steps() : c.batch.lengths[static_cast<std::size_t>(row)];
    const std::uint8_t* begins = mask.data() + row * c.steps();
    for (std::int64_t first = 0, next = 0; first < length; first = next) {
      next = std::find_if(begins + first + 1, begins + length, [](int one) { return one != 0; }) - begins;
      SequenceCase piece = only_steps(whole, first, next);
      piece.batch.first_step = c.batch.first_step;
      piece.batch.lengths.clear();
      if (begins[first] != 0) piece.initial.clear();
      std::vector<Tensor> window;
      for (const Tensor& state : by_window)
        window.push_back(next == length ? part(state, 1, row, row + 1) : Tensor());
      const Pass one = run(piece, {}, {}, part(part(by_outputs, 0, row, row + 1), 1, first, next), window);
      put(all.outputs, 0, row, first, one.outputs);
      put(all.gradients.x, 0, row, first, one.gradients.x);
      for (std::size_t w = 0; w < c.weights.size(); ++w)
        add(all.gradients.weights[w], one.gradients.weights[w]);
      for (std::size_t s = 0; s < all.window.size(); ++s) {
        if (next == length) put(all.window[s], 1, row, 0, one.window[s]);
        if (!piece.initial.empty()) put(all.gradients.initial[s], 1, row, 0, one.gradients.initial[s]);
      }
    }
  }
  return all;
}

Results by_name(const Pass& pass) {
  Results results = {{"outputs", pass.outputs}, {"d x", pass.gradients.x}};
  for (const Tensor& state : pass.window) results.push_back({"window", state});
  for (const Tensor& g : pass.gradients.weights) results.push_back({"d weight", g});
  for (const Tensor& g : pass.gradients.initial) results.push_back({"d state", g});
  return results;
}

std::string differences_from_pieces(SequenceCase c, const SequenceSettings& settings, std::uint64_t seed) {
  c.stack.at = ReadAt::every_step;
  c.stack.loss = Loss::none;
  c.batch.targets = {};
  c.batch.classes.clear();
  const Mask mask = random_mask(c, seed);
  const Tensor by_outputs = fixed_numbers({c.rows(), c.steps(), c.stack.output_width()}, c.dtype(), 1);
  std::vector<Tensor> by_window;
  if (reads_all_states(c))
    for (const Tensor& state : zero_window(c.stack.layers, c.rows(), c.dtype()).states)
      by_window.push_back(fixed_numbers(state.shape(), state.dtype(), 2));
  return differences(by_name(run(c, settings, mask, by_outputs, by_window)),
                     by_name(run_pieces(c, mask, by_outputs, by_window)), 1e-11);
}

TEST_CASE("random stacks whose rows begin again are their pieces") {
  for_each_seed("random stacks whose rows begin again are their pieces", 300, [](std::uint64_t seed) {
    return differences_from_pieces(random_case(seed), some_settings(seed), seed);
  });
}

TEST_CASE("states on the grid that begin again are their pieces, also backwards") {
  for (const MemoryPlan plan : {MemoryPlan::full, MemoryPlan::checkpoint, MemoryPlan::reversible}) {
    StackDefinition of_oscillators;
    of_oscillators.layers = {oscillators(5, 3)};
    SequenceCase c = filled(of_oscillators, 3, 70, 5);
    add_initial(c, 5);
    SequenceSettings settings;
    settings.plan = plan;
    settings.chunk = 16;
    CHECK(differences_from_pieces(c, settings, 5) == "");
    add_lengths(c, 6);
    CHECK(differences_from_pieces(c, settings, 6) == "");
  }
}

bool has_trained_lags(const StepProgram& program) {
  return std::ranges::any_of(program.values, [](const Instruction& v) { return v.op == StepOp::real_lag; });
}

/// Resets in the initial window of the first layer, whose last state counts them.
void count_resets(SequenceCase& c, const StepProgram& first, std::uint64_t seed) {
  Tensor& count = c.initial[first.states.size() - 1];
  const std::int64_t rows = count.size(1);
  for (std::int64_t i = 0; i < count.numel(); ++i)
    count.set(i, (i < rows ? 0 : count.at(i - rows)) + (RandomStream(seed, 9).uniform_at(i) < 0.2 ? 1 : 0));
}

/// The unrolled step keeps what is hidden, and the number of resets.
Results without_windows(Results results) {
  std::erase_if(results, [](const NamedTensor& one) { return one.name.ends_with("[..T]"); });
  return results;
}

TEST_CASE("random stacks that read resets agree with the unrolled step that asks for them") {
  std::int64_t found = 0;
  for_each_seed("random stacks that read resets agree with the unrolled step that asks for them", 300,
                [&](std::uint64_t seed) {
                  SequenceCase c = random_case(seed);
                  StepProgram& first = c.stack.layers.front();
                  if (has_trained_lags(first) || first.states.empty()) return std::string();
                  first = with_reset_column(first, 0);
                  found += without_reset_column(first).has_value() ? 1 : 0;
                  const Mask mask = random_mask(c, seed);
                  for (std::size_t i = 0; i < mask.size(); ++i)
                    c.batch.x.set(static_cast<std::int64_t>(i) * c.batch.x.size(2),
                                  mask[i] != 0 ? 0.7 : -0.4);
                  c.initial.clear();
                  if (seed % 2 == 0) add_initial(c, seed);
                  if (!c.initial.empty() && first.states.back().name == "resets")
                    count_resets(c, first, seed);
                  return differences(without_windows(run_op(c, some_settings(seed))),
                                     without_windows(run_unrolled(c)), 1e-12);
                });
  CHECK(found > 5);
}

TEST_CASE("a step loses its question for resets and has it again") {
  for (const StepProgram& step : {tau_gru(4, 3, 5), lstm(4, 3), two_states(4, 3, 2, 6), oscillators(4, 3)}) {
    if (step.states.front().arithmetic == Arithmetic::grid) continue;
    CHECK_FALSE(without_reset_column(step));
    const auto found = without_reset_column(with_reset_column(step, 2));
    REQUIRE(found);
    CHECK(found->column == 2);
    CHECK(to_string(found->program) == to_string(step));
  }
  // A choice that is none of resets stays.
  CHECK_FALSE(without_reset_column(equations(
      4, 3, {"W [units, input]"}, {"h' = where(sign(relu(sum(slice(x, 0, 1)))), h, tanh(W @ x))"})));
}

}  // namespace
}  // namespace lagtape
