#include "lagtape/tools/analysis/layer_over_time.h"

#include <algorithm>

namespace lagtape {

namespace {

/// The number of steps whose values and derivatives take about `bytes`.
std::int64_t stretch_of(const StepProgram& program, std::int64_t rows, std::int64_t bytes) {
  constexpr std::int64_t kNode = 600;  // bytes of a node of the tape besides its numbers
  std::int64_t step = 0;
  for (const Instruction& v : program.values) step += 2 * 8 * rows * v.shape.width() + kNode;
  return std::max<std::int64_t>(bytes / step, 1);
}

/// Repeats [n, 1, w] or [n, w] in every row of [n, rows, w].
Tensor in_rows(const Tensor& one, std::int64_t rows) {
  const std::int64_t n = one.size(0), width = one.size(-1);
  Tensor all({n, rows, width}, Dtype::f64);
  const double* from = one.values<double>().data();
  double* to = all.values<double>().data();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(from + i * width, width, to + (i * rows + row) * width);
  return all;
}

/// The steps first .. first + count - 1 of [rows, S, w].
Tensor part_of(const Tensor& whole, std::int64_t first, std::int64_t count) {
  const std::int64_t rows = whole.size(0), steps = whole.size(1), width = whole.size(2);
  Tensor part({rows, count, width}, Dtype::f64);
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(whole.values<double>().data() + (row * steps + first) * width, count * width,
                part.values<double>().data() + row * count * width);
  return part;
}

void put_part(Tensor& whole, const Tensor& part, std::int64_t first) {
  const std::int64_t rows = whole.size(0), steps = whole.size(1), width = whole.size(2), count = part.size(1);
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(part.values<double>().data() + row * count * width, count * width,
                whole.values<double>().data() + (row * steps + first) * width);
}

/// A node whose derivatives with respect to its inputs are the given ones, of the same shapes.
Var with_derivatives(Tape& tape, const std::vector<Var>& inputs, std::vector<Tensor> derivatives) {
  return tape.record(Tensor::scalar(0, Dtype::f64), inputs,
                     [derivatives = std::move(derivatives)](const Tensor&, InputGradients& to) {
                       for (std::size_t i = 0; i < derivatives.size(); ++i)
                         to.add(static_cast<int>(i), derivatives[i]);
                     });
}

template <class Make>
std::vector<Var> leaves(const std::vector<Tensor>& values, Make make) {
  std::vector<Var> vars;
  for (const Tensor& value : values) vars.push_back(make(value));
  return vars;
}

}  // namespace

LayerOverTime::LayerOverTime(StepProgram program, std::vector<Tensor> weights, Tensor x,
                             std::vector<Tensor> initial, std::int64_t first_step, std::int64_t rows,
                             std::int64_t bytes)
    : weights_(std::move(weights)),
      x_(std::move(x)),
      first_step_(first_step),
      stretch_(stretch_of(program, rows, bytes)),
      windows_{std::move(initial)} {
  stack_.layers.push_back(std::move(program));
}

std::int64_t LayerOverTime::boundary_bytes(const StepProgram& program, std::int64_t steps, std::int64_t rows,
                                           std::int64_t bytes) {
  std::int64_t window = 0;
  for (std::size_t s = 0; s < program.states.size(); ++s)
    window += 8 * (program.history(static_cast<int>(s)) + 1) * program.states[s].shape.width();
  return (steps / stretch_of(program, rows, bytes) + 1) * window;
}

SequenceBatch LayerOverTime::stretch(std::int64_t first, std::int64_t rows) const {
  const std::int64_t count = std::min(stretch_, steps() - first);
  const Tensor once = part_of(x_.reshaped({1, steps(), x_.size(1)}), first, count);
  SequenceBatch batch;
  batch.x = in_rows(once.reshaped({1, 1, count * x_.size(1)}), rows).reshaped({rows, count, x_.size(1)});
  batch.first_step = first_step_ + first;
  return batch;
}

Tensor LayerOverTime::forward(const SeeStep& see) {
  Tensor outputs({1, steps(), stack_.output_width()}, Dtype::f64);
  windows_.resize(1);
  for (std::int64_t first = 0; first < steps(); first += stretch_) {
    Tape tape;
    const auto constant = [&](const Tensor& value) { return tape.constant(value); };
    const SequenceBatch batch = stretch(first, 1);
    std::vector<Var> last;
    UnrollTrace trace;
    const Var y = unroll_traced(tape, stack_, leaves(weights_, constant), tape.constant(batch.x), batch,
                                leaves(windows_.back(), constant), &last, trace);
    put_part(outputs, y.value(), first);
    for (std::int64_t n = 0; n < batch.x.size(1); ++n) see(first + n, trace.layers[0][n]);
    windows_.emplace_back();
    for (const Var& window : last) windows_.back().push_back(window.value().clone());
  }
  return outputs.reshaped({steps(), outputs.size(2)});
}

Tensor LayerOverTime::backward(const Seeds& seeds, const SeeGradient& see, bool input_wanted) {
  const std::size_t states = program().states.size();
  Tensor of_x;
  if (input_wanted) of_x = Tensor({seeds.rows, steps(), x_.size(1)}, Dtype::f64);
  // The derivatives with respect to the window after the current stretch.
  std::vector<Tensor> of_window;
  for (std::size_t s = 0; s < states; ++s) {
    const std::int64_t length = windows_[0][s].size(0), width = windows_[0][s].size(2);
    of_window.emplace_back(Shape{length, seeds.rows, width}, Dtype::f64);
    if (seeds.states.empty()) continue;
    std::copy_n(seeds.states[s].values<double>().data(), seeds.rows * width,
                of_window[s].values<double>().data() + (length - 1) * seeds.rows * width);
  }
  for (std::int64_t i = (steps() - 1) / stretch_; i >= 0; --i) {
    const std::int64_t first = i * stretch_;
    Tape tape;
    const SequenceBatch batch = stretch(first, seeds.rows);
    const Var x = input_wanted ? tape.variable(batch.x) : tape.constant(batch.x);
    const std::vector<Var> initial =
        leaves(windows_[i], [&](const Tensor& window) { return tape.variable(in_rows(window, seeds.rows)); });
    const std::vector<Var> weights =
        leaves(weights_, [&](const Tensor& weight) { return tape.constant(weight); });
    std::vector<Var> seeded;
    UnrollTrace trace;
    const Var y = unroll_traced(tape, stack_, weights, x, batch, initial, &seeded, trace);
    std::vector<Tensor> derivatives = std::move(of_window);
    if (!seeds.outputs.empty()) {
      seeded.push_back(y);
      derivatives.push_back(part_of(seeds.outputs, first, batch.x.size(1)));
    }
    tape.backward(with_derivatives(tape, seeded, std::move(derivatives)));

    for (std::int64_t n = batch.x.size(1) - 1; n >= 0; --n) {
      std::vector<Tensor> of_states;
      for (const Var& state : trace.layers[0][n].states)
        of_states.push_back(state.grad().reshaped({seeds.rows, state.value().numel() / seeds.rows}));
      see(first + n, of_states);
    }
    of_window.clear();
    for (const Var& window : initial) of_window.push_back(window.grad());
    if (input_wanted) put_part(of_x, x.grad(), first);
  }
  return of_x;
}

}  // namespace lagtape
