#include "lagtape/tests/ops/recurrence/support/sequence_case.h"

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/recurrence/oracle/unroll.h"
#include "lagtape/ops/reduce.h"

namespace lagtape::test {
namespace {

std::string prefix(const SequenceCase& c, std::size_t layer) {
  if (layer == c.stack.layers.size()) return "read-out ";
  return layer == 0 ? "" : text_of(layer, " ");
}

std::vector<std::string> weight_names(const SequenceCase& c) {
  std::vector<std::string> names;
  const auto append = [&](const StepProgram& program, std::size_t layer) {
    for (const WeightDefinition& weight : program.weights) names.push_back(prefix(c, layer) + weight.name);
  };
  for (std::size_t i = 0; i < c.stack.layers.size(); ++i) append(c.stack.layers[i], i);
  if (c.stack.readout) append(*c.stack.readout, c.stack.layers.size());
  return names;
}

std::vector<std::string> state_names(const SequenceCase& c) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < c.stack.layers.size(); ++i) {
    for (const StateDefinition& state : c.stack.layers[i].states) names.push_back(prefix(c, i) + state.name);
  }
  return names;
}

void append_windows(Results& results, const SequenceCase& c, const std::vector<Tensor>& windows) {
  const std::vector<std::string> names = state_names(c);
  for (std::size_t s = 0; s < windows.size(); ++s)
    results.push_back({names.at(s) + "[..T]", windows[s].clone()});
}

Tensor random_numbers(const Shape& shape, Dtype dtype) {
  Tensor numbers(shape, dtype);
  for (std::int64_t i = 0; i < numbers.numel(); ++i) numbers.set(i, RandomStream(7, 7).normal_at(i));
  return numbers;
}

std::vector<Var> variables(Tape& tape, const SequenceCase& c) {
  std::vector<Var> vars;
  for (const Tensor& tensor : differentiable(c)) vars.push_back(tape.variable(tensor));
  return vars;
}

std::span<const Var> weights_of(const SequenceCase& c, std::span<const Var> inputs) {
  return inputs.first(c.weights.size());
}
Var x_of(const SequenceCase& c, std::span<const Var> inputs) { return inputs[c.weights.size()]; }
std::span<const Var> initial_of(const SequenceCase& c, std::span<const Var> inputs) {
  return inputs.subspan(c.weights.size() + 1);
}

/// Runs backward from the value and returns all results by name.
Results collect(Tape& tape, const SequenceCase& c, Var value, const std::vector<Var>& inputs,
                const std::vector<Tensor>& final_windows) {
  const bool is_loss = c.stack.loss != Loss::none;
  Results results = {{is_loss ? "loss" : "outputs", value.value().clone()}};
  tape.backward(value,
                is_loss ? Tensor::full({}, value.dtype(), 1) : random_numbers(value.shape(), value.dtype()));
  std::vector<std::string> names = weight_names(c);
  names.push_back("x");
  for (const std::string& state : state_names(c)) names.push_back(state + "[..0]");
  for (std::size_t i = 0; i < inputs.size(); ++i) results.push_back({"d " + names.at(i), inputs[i].grad()});
  append_windows(results, c, final_windows);
  return results;
}

}  // namespace

SequenceCase converted(const SequenceCase& c, Dtype dtype) {
  SequenceCase to = c;
  for (Tensor& weight : to.weights) weight = weight.to(dtype);
  const Window like = zero_window(c.stack.layers, c.rows(), dtype);
  for (std::size_t s = 0; s < to.initial.size(); ++s)
    to.initial[s] = to.initial[s].to(like.states[s].dtype());
  to.batch.x = c.batch.x.to(dtype);
  if (!c.batch.targets.empty()) to.batch.targets = c.batch.targets.to(dtype);
  return to;
}

Tensor part(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  std::int64_t outer = 1, inner = 1;
  for (std::int64_t i = 0; i < axis; ++i) outer *= x.size(i);
  for (std::int64_t i = axis + 1; i < x.rank(); ++i) inner *= x.size(i);
  Shape shape = x.shape();
  shape[axis] = end - begin;
  Tensor taken(shape, x.dtype());
  std::int64_t at = 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = begin * inner; i < end * inner; ++i)
      taken.set(at++, x.at(o * x.size(axis) * inner + i));
  }
  return taken;
}

SequenceCase only_row(const SequenceCase& c, std::int64_t row) {
  const bool every_step = reads_every_step(c.stack.at);
  SequenceCase alone = c;
  alone.batch.x = part(c.batch.x, 0, row, row + 1);
  for (Tensor& window : alone.initial) window = part(window, 1, row, row + 1);
  if (!c.batch.targets.empty()) alone.batch.targets = part(c.batch.targets, 0, row, row + 1);
  if (!c.batch.classes.empty()) {
    const std::int64_t each = every_step ? c.steps() : 1;
    alone.batch.classes = {c.batch.classes.begin() + row * each, c.batch.classes.begin() + (row + 1) * each};
  }
  alone.batch.draws.sequences = {c.batch.draws.sequences.empty() ? row : c.batch.draws.sequences[row]};
  alone.batch.lengths.clear();
  if (c.batch.lengths.empty() || c.stack.at == ReadAt::last_padded_step) return alone;
  return only_steps(alone, 0, c.batch.lengths[row]);
}

SequenceCase only_steps(const SequenceCase& c, std::int64_t begin, std::int64_t end) {
  SequenceCase some = c;
  some.batch.x = part(c.batch.x, 1, begin, end);
  some.batch.first_step += begin;
  if (begin > 0) some.initial.clear();
  if (!reads_every_step(c.stack.at)) return some;
  if (!c.batch.targets.empty()) some.batch.targets = part(c.batch.targets, 1, begin, end);
  if (!c.batch.classes.empty()) {
    some.batch.classes.clear();
    for (std::int64_t i = 0; i < c.rows() * c.steps(); ++i) {
      const std::int64_t n = i % c.steps();
      if (n >= begin && n < end) some.batch.classes.push_back(c.batch.classes[i]);
    }
  }
  return some;
}

std::vector<Tensor> differentiable(const SequenceCase& c) {
  std::vector<Tensor> tensors = c.weights;
  tensors.push_back(c.batch.x);
  tensors.insert(tensors.end(), c.initial.begin(), c.initial.end());
  return tensors;
}

Results run_unrolled(const SequenceCase& c) {
  Tape tape;
  const std::vector<Var> inputs = variables(tape, c);
  const auto run = c.stack.loss == Loss::none ? unroll_outputs : unroll_loss;
  std::vector<Var> window;
  const Var value =
      run(tape, c.stack, weights_of(c, inputs), x_of(c, inputs), c.batch, initial_of(c, inputs), &window);
  std::vector<Tensor> windows;
  for (const Var& state : window) windows.push_back(state.value());
  return collect(tape, c, value, inputs, windows);
}

Results run_op(const SequenceCase& c, const SequenceSettings& settings, int threads) {
  ThreadPool pool(threads);
  SequenceOp op(c.stack, c.dtype(), settings);
  Tape tape;
  const std::vector<Var> inputs = variables(tape, c);
  Window window;
  const auto run = c.stack.loss == Loss::none ? &SequenceOp::outputs : &SequenceOp::loss;
  const Var value =
      (op.*run)(tape, weights_of(c, inputs), x_of(c, inputs), c.batch, pool, initial_of(c, inputs), &window);
  return collect(tape, c, value, inputs, window.states);
}

Results run_evaluate(const SequenceCase& c, const SequenceSettings& settings, int threads) {
  ThreadPool pool(threads);
  SequenceOp op(c.stack, c.dtype(), settings);
  const Window initial{c.initial};
  Window window;
  const Tensor y = op.evaluate(c.weights, c.batch, pool, c.initial.empty() ? nullptr : &initial, &window);
  Results results = {{"outputs", y}};
  append_windows(results, c, window.states);
  return results;
}

Results row_of(const Results& evaluated, const SequenceCase& c, std::int64_t row) {
  Results results;
  for (const NamedTensor& result : evaluated) {
    const bool is_output = result.name == "outputs";
    results.push_back({result.name, part(result.tensor, is_output ? 0 : 1, row, row + 1)});
    if (is_output && reads_every_step(c.stack.at) && !c.batch.lengths.empty())
      results.back().tensor = part(results.back().tensor, 1, 0, c.batch.lengths[row]);
  }
  return results;
}

Var scalar_unrolled(Tape& tape, const SequenceCase& c, std::span<const Var> inputs) {
  const auto run = c.stack.loss == Loss::none ? unroll_outputs : unroll_loss;
  const Var value =
      run(tape, c.stack, weights_of(c, inputs), x_of(c, inputs), c.batch, initial_of(c, inputs), nullptr);
  return sum(value * tape.constant(random_numbers(value.shape(), value.dtype())));
}

Var scalar_op(Tape& tape, const SequenceCase& c, std::span<const Var> inputs, SequenceOp& op,
              ThreadPool& pool) {
  const auto run = c.stack.loss == Loss::none ? &SequenceOp::outputs : &SequenceOp::loss;
  const Var value =
      (op.*run)(tape, weights_of(c, inputs), x_of(c, inputs), c.batch, pool, initial_of(c, inputs), nullptr);
  return sum(value * tape.constant(random_numbers(value.shape(), value.dtype())));
}

}  // namespace lagtape::test
