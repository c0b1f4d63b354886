#include "lagtape/ops/recurrence/unroll.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/ops/recurrence/draws.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/shape.h"

namespace lagtape {
namespace {

using Rows = std::vector<bool>;           // a flag a row of the batch
using Steps = std::vector<std::int64_t>;  // the absolute step that each row is at

/// Values have a leading axis: the rows of the batch, or 1 for what is the same in all of them.
Shape with_rows(std::int64_t rows, const RowShape& shape) {
  if (shape.rank == 0) return {rows};
  return shape.rank == 1 ? Shape{rows, shape.size} : Shape{rows, shape.groups, shape.size};
}

Var ones(Tape& tape, Shape shape, Dtype dtype) {
  return tape.constant(Tensor::full(std::move(shape), dtype, 1));
}
Var zeros_like(const Var& x) { return x.tape().constant(Tensor(x.shape(), x.dtype())); }

/// `from` with the rows that are not chosen set to zero.
Tensor keep_rows(const Tensor& from, const Rows& chosen) {
  Tensor kept(from.shape(), from.dtype());
  const std::int64_t width = from.numel() / static_cast<std::int64_t>(chosen.size());
  for (std::int64_t i = 0; i < from.numel(); ++i) {
    if (chosen[i / width]) kept.set(i, from.at(i));
  }
  return kept;
}

/// a in the chosen rows, b in the others, whatever stands there: no arithmetic touches what is not taken.
Var select(const Rows& chosen, const Var& a, const Var& b) {
  Rows others = chosen;
  others.flip();
  if (std::ranges::none_of(others, [](bool other) { return other; })) return a;
  Tensor taken = keep_rows(b.value(), others);
  const std::int64_t width = taken.numel() / static_cast<std::int64_t>(chosen.size());
  for (std::int64_t i = 0; i < taken.numel(); ++i) {
    if (chosen[i / width]) taken.set(i, a.value().at(i));
  }
  return a.tape().record(taken, {a, b}, [chosen, others](const Tensor& d, InputGradients& inputs) {
    inputs.add(0, keep_rows(d, chosen));
    inputs.add(1, keep_rows(d, others));
  });
}

/// The same value in every row of the batch, with an axis for them.
Var in_every_row(const Var& x, std::int64_t rows) {
  if (x.shape()[0] == rows) return x;
  Shape leading(x.shape().size(), 1);
  leading[0] = rows;
  return x * ones(x.tape(), leading, x.dtype());
}

Var elementwise(StepOp op, const Var& a, const Var& b) {
  switch (op) {
    // clang-format off
    case StepOp::negate: return -a;
    case StepOp::tanh: return tanh(a);
    case StepOp::sigmoid: return sigmoid(a);
    case StepOp::relu: return relu(a);
    case StepOp::exp: return exp(a);
    case StepOp::log: return log(a);
    case StepOp::sqrt: return sqrt(a);
    case StepOp::abs: return abs(a);
    case StepOp::sign: return sign(a);
    case StepOp::sin: return sin(a);
    case StepOp::cos: return cos(a);
    case StepOp::add: return a + b;
    case StepOp::subtract: return a - b;
    case StepOp::multiply: return a * b;
    case StepOp::divide: return a / b;
    case StepOp::minimum: return minimum(a, b);
    case StepOp::maximum: return maximum(a, b);
    default: throw Error(concat("[unroll] no rule for ", name_of(op), "."));
      // clang-format on
  }
}

/// What all layers have in common.
struct Frame {
  Tape& tape;
  const SequenceBatch& batch;
  Dtype dtype;
  std::int64_t rows;
};

/// One program, its weights, and its states from the oldest known to the present.
class Layer {
 public:
  Layer(const Frame& frame, const StepProgram& program, int position, std::span<const Var> weights)
      : frame_(frame), program_(program), position_(position), past_(program.states.size()) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      Shape shape = program.weights[i].shape;
      if (shape.size() < 2) shape.insert(shape.begin(), 1);
      weights_.push_back(reshape(weights[i], shape));
    }
  }

  /// The states before the first step: `initial` holds a window a state, or nothing.
  void start(std::span<const Var> initial) {
    for (std::size_t s = 0; s < past_.size(); ++s) {
      const StateDefinition& state = program_.states[s];
      if (state.arithmetic == Arithmetic::grid) {
        throw InputError(concat("[unroll] states hold real numbers. Got '", state.name, "' on the grid."));
      }
      const Shape shape = with_rows(frame_.rows, state.shape);
      const std::int64_t length = program_.history(static_cast<int>(s)) + 1;
      for (std::int64_t k = 0; k < length; ++k) {
        past_[s].push_back(initial.empty() ? frame_.tape.constant(Tensor(shape, frame_.dtype))
                                           : reshape(slice(initial[s], 0, k, k + 1), shape));
      }
    }
  }

  /// One step of the rows that still run: the output for x [B, input], [B, width].
  Var step(const Var& x, const Steps& steps, const Rows& running) {
    values_.clear();
    for (const Instruction& v : program_.values) values_.push_back(evaluate(v, x, steps));
    for (std::size_t s = 0; s < past_.size(); ++s) {
      const StateDefinition& state = program_.states[s];
      const Var next = in_every_row(values_[state.next], frame_.rows);
      past_[s].push_back(select(running, next, past_[s].back()));
    }
    const Var output = in_every_row(values_[program_.output], frame_.rows);
    return reshape(output, {frame_.rows, program_.values[program_.output].shape.width()});
  }

  void append_windows(std::vector<Var>& windows) const {
    for (std::size_t s = 0; s < past_.size(); ++s) {
      const std::int64_t width = program_.states[s].shape.width();
      std::vector<Var> window;
      for (std::int64_t lag = program_.history(static_cast<int>(s)); lag >= 0; --lag) {
        window.push_back(reshape(past(static_cast<int>(s), lag), {frame_.rows, width}));
      }
      windows.push_back(stack(window));
    }
  }

 private:
  const Var& past(int state, std::int64_t lag) const { return past_[state][past_[state].size() - 1 - lag]; }

  Var evaluate(const Instruction& v, const Var& x, const Steps& steps) const {
    const auto a = [&] { return values_[v.a]; };
    switch (v.op) {
      case StepOp::input:
        return reshape(x, with_rows(frame_.rows, v.shape));
      case StepOp::state:
        return past(v.index, 0);
      case StepOp::lag:
        return past(v.index, v.lag);
      case StepOp::real_lag:
        return real_lag(v, a());
      case StepOp::weight:
        return weights_[v.index];
      case StepOp::constant:
        return frame_.tape.constant(Tensor::full({1}, frame_.dtype, v.value));
      case StepOp::step_index:
        return per_row([&](std::int64_t row) { return static_cast<double>(steps[row]); });
      case StepOp::draw:
        return draw(v, steps);
      case StepOp::product:
        return linear(a(), weights_[v.index]);
      case StepOp::sum:
        return sum(a(), -1);
      case StepOp::broadcast: {
        Shape with_axis = a().shape();
        with_axis.push_back(1);
        return reshape(a(), with_axis) * ones(frame_.tape, {v.shape.size}, frame_.dtype);
      }
      case StepOp::reshape:
        return reshape(a(), with_rows(a().shape()[0], v.shape));
      default:
        return elementwise(v.op, a(), v.b < 0 ? Var() : values_[v.b]);
    }
  }

  template <class F>
  Var per_row(F f) const {
    Tensor t({frame_.rows}, frame_.dtype);
    for (std::int64_t row = 0; row < frame_.rows; ++row) t.set(row, f(row));
    return frame_.tape.constant(t);
  }

  Var draw(const Instruction& v, const Steps& steps) const {
    const DrawDefinition& definition = program_.draws[v.index];
    if (!frame_.batch.training) {
      return frame_.tape.constant(Tensor::full(with_rows(1, v.shape), frame_.dtype, definition.evaluation));
    }
    const DrawKey& key = frame_.batch.draws;
    const std::int64_t width = v.shape.width();
    Tensor drawn(with_rows(frame_.rows, v.shape), frame_.dtype);
    for (std::int64_t row = 0; row < frame_.rows; ++row) {
      const std::int64_t sequence = key.sequences.empty() ? row : key.sequences[row];
      for (std::int64_t unit = 0; unit < width; ++unit) {
        drawn.set(row * width + unit,
                  draw_at(definition, key.seed, key.epoch, sequence, steps[row], unit, position_, v.index));
      }
    }
    return frame_.tape.constant(drawn);
  }

  /// Units whose lags have one whole part are read together.
  Var real_lag(const Instruction& v, const Var& tau) const {
    const Tensor& lags = tau.value();
    const double longest = static_cast<double>(v.lag);
    const auto whole = [&](std::int64_t i) { return std::floor(std::clamp(lags.at(i), 1.0, longest)); };
    std::set<double> wholes;
    for (std::int64_t i = 0; i < lags.numel(); ++i) wholes.insert(whole(i));

    Var sum;
    for (const double k : wholes) {
      Tensor here(lags.shape(), lags.dtype()), moving(lags.shape(), lags.dtype());
      for (std::int64_t i = 0; i < lags.numel(); ++i) {
        if (whole(i) != k) continue;
        here.set(i, 1);
        if (lags.at(i) >= 1 && lags.at(i) < longest) moving.set(i, 1);
      }
      const std::int64_t lag = static_cast<std::int64_t>(k);
      const Var fraction = (tau - k) * frame_.tape.constant(moving);
      const Var read =
          (1 - fraction) * past(v.index, lag) + fraction * past(v.index, std::min(lag + 1, v.lag));
      const Var part = read * frame_.tape.constant(here);
      sum = k == *wholes.begin() ? part : sum + part;
    }
    return sum;
  }

  const Frame& frame_;
  const StepProgram& program_;
  int position_;
  std::vector<Var> weights_;
  std::vector<std::vector<Var>> past_;  // of every state, the present last
  std::vector<Var> values_;             // of the step being run
};

/// The stack over the whole batch.
class Unrolled {
 public:
  Unrolled(Tape& tape, const StackDefinition& stack, std::span<const Var> weights, Var x,
           const SequenceBatch& batch, std::span<const Var> initial)
      : stack_(stack), x_(x), batch_(batch), frame_{tape, batch, x.dtype(), x.value().size(0)} {
    lengths_ = batch.lengths;
    if (lengths_.empty() || stack.at == ReadAt::last_padded_step) lengths_.assign(frame_.rows, steps());

    std::size_t states = 0;
    for (const StepProgram& program : stack.layers) states += program.states.size();
    if (!initial.empty() && initial.size() != states) {
      throw InputError(concat("[unroll] one window a state. Got ", initial.size(), " for ", states, "."));
    }
    for (const StepProgram& program : stack.layers) {
      add_layer(program, weights);
      const auto windows = initial.empty() ? initial : initial.first(program.states.size());
      layers_.back().start(windows);
      initial = initial.subspan(windows.size());
    }
    if (stack.readout) add_layer(*stack.readout, weights);
    if (!weights.empty()) {
      throw InputError(concat("[unroll] ", weights.size(), " weights more than the programs have."));
    }
  }

  /// [B, T, q] or [B, q].
  Var outputs() {
    std::vector<Var> each;
    Var read;  // [B, width] of the top layer, for one read-out at the end
    for (std::int64_t n = 0; n < steps(); ++n) {
      const Rows running = rows_where([&](std::int64_t length) { return n < length; });
      const Steps now(frame_.rows, batch_.first_step + n);
      const Var top = run_layers(n, now, running);
      if (n == 0) read = zeros_like(top);
      switch (stack_.at) {
        case ReadAt::every_step: {
          const Var y = read_out(top, now);
          each.push_back(select(running, y, zeros_like(y)));
          break;
        }
        case ReadAt::mean:
          read = read + select(running, top, zeros_like(top));
          break;
        case ReadAt::last_step:
        case ReadAt::last_padded_step:
          read = select(running, top, read);
      }
    }
    if (stack_.at == ReadAt::every_step) return stack(each, 1);
    Steps last;
    Tensor counts({frame_.rows, 1}, frame_.dtype);
    for (std::int64_t row = 0; row < frame_.rows; ++row) {
      last.push_back(batch_.first_step + lengths_[row] - 1);
      counts.set(row, static_cast<double>(lengths_[row]));
    }
    if (stack_.at == ReadAt::mean) read = read / frame_.tape.constant(counts);
    return read_out(read, last);
  }

  Var loss() {
    const Var y = outputs();
    const std::int64_t width = y.value().size(-1), scored_rows = y.value().numel() / width;
    const Var rows = reshape(y, {scored_rows, width});
    Rows scored(scored_rows, true);
    if (stack_.at == ReadAt::every_step) {
      for (std::int64_t i = 0; i < scored_rows; ++i) scored[i] = i % steps() < lengths_[i / steps()];
    }
    const Var error = row_losses(rows, scored);
    const auto count = std::ranges::count(scored, true) * error.value().size(-1);
    return sum(select(scored, error, zeros_like(error))) / static_cast<double>(count);
  }

  std::vector<Var> window() const {
    std::vector<Var> windows;
    for (const Layer& layer : layers_) layer.append_windows(windows);
    return windows;
  }

 private:
  std::int64_t steps() const { return x_.value().size(1); }

  void add_layer(const StepProgram& program, std::span<const Var>& weights) {
    const std::size_t count = program.weights.size();
    if (weights.size() < count) {
      throw InputError(concat("[unroll] a weight is missing: '", program.weights[weights.size()].name, "'."));
    }
    layers_.emplace_back(frame_, program, static_cast<int>(layers_.size()), weights.first(count));
    weights = weights.subspan(count);
  }

  template <class Predicate>
  Rows rows_where(Predicate holds) const {
    Rows rows;
    for (const std::int64_t length : lengths_) rows.push_back(holds(length));
    return rows;
  }

  /// What stands in the padding of x is not looked at: its gradient would be 0 times anything.
  Var run_layers(std::int64_t n, const Steps& now, const Rows& running) {
    const Var x = reshape(slice(x_, 1, n, n + 1), {frame_.rows, x_.value().size(2)});
    Var value = select(running, x, zeros_like(x));
    for (std::size_t i = 0; i < stack_.layers.size(); ++i) value = layers_[i].step(value, now, running);
    return value;
  }

  Var read_out(const Var& top, const Steps& at) {
    return stack_.readout ? layers_.back().step(top, at, Rows(frame_.rows, true)) : top;
  }

  /// What each row of y [rows, q] adds to the loss: [rows, q] for mse, else [rows, 1].
  Var row_losses(const Var& y, const Rows& scored) {
    Tape& tape = frame_.tape;
    const auto targets = [&] { return tape.constant(batch_.targets.to(frame_.dtype).reshaped(y.shape())); };
    if (stack_.loss == Loss::mse) return square(y - targets());
    if (stack_.loss == Loss::binary_cross_entropy) return softplus(y) - targets() * y;
    if (stack_.loss == Loss::none) throw InputError("[unroll_loss] the stack has no loss.");

    const std::int64_t rows = y.value().size(0), classes = y.value().size(1);
    if (static_cast<std::int64_t>(batch_.classes.size()) != rows) {
      throw InputError(
          concat("[unroll_loss] one class for each of ", rows, " rows. Got ", batch_.classes.size(), "."));
    }
    Tensor largest({rows, 1}, frame_.dtype), chosen(y.shape(), frame_.dtype);
    for (std::int64_t row = 0; row < rows; ++row) {
      double top = y.value().at(row * classes);
      for (std::int64_t j = 1; j < classes; ++j) top = std::max(top, y.value().at(row * classes + j));
      largest.set(row, top);
      if (scored[row]) chosen.set(row * classes + batch_.classes[row], 1);
    }
    const Var shifted = y - tape.constant(largest);
    return log(sum(exp(shifted), 1, true)) - sum(shifted * tape.constant(chosen), 1, true);
  }

  const StackDefinition& stack_;
  Var x_;
  const SequenceBatch& batch_;
  Frame frame_;
  std::vector<std::int64_t> lengths_;
  std::vector<Layer> layers_;  // the read-out last
};

}  // namespace

Var unroll_loss(Tape& tape, const StackDefinition& stack, std::span<const Var> weights, Var x,
                const SequenceBatch& batch, std::span<const Var> initial, std::vector<Var>* final_window) {
  Unrolled unrolled(tape, stack, weights, x, batch, initial);
  const Var loss = unrolled.loss();
  if (final_window != nullptr) *final_window = unrolled.window();
  return loss;
}

Var unroll_outputs(Tape& tape, const StackDefinition& stack, std::span<const Var> weights, Var x,
                   const SequenceBatch& batch, std::span<const Var> initial, std::vector<Var>* final_window) {
  Unrolled unrolled(tape, stack, weights, x, batch, initial);
  const Var outputs = unrolled.outputs();
  if (final_window != nullptr) *final_window = unrolled.window();
  return outputs;
}

}  // namespace lagtape
