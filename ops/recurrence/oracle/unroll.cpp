#include "lagtape/ops/recurrence/oracle/unroll.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/loss_rows.h"
#include "lagtape/ops/recurrence/oracle/unroll_layer.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/shape.h"

namespace lagtape {

using namespace recurrence;

namespace {

/// The stack over the whole batch.
class Unrolled {
 public:
  Unrolled(Tape& tape, const StackDefinition& stack, std::span<const Var> weights, Var x,
           const SequenceBatch& batch, std::span<const Var> initial, UnrollTrace* trace = nullptr)
      : stack_(stack), x_(x), batch_(batch), frame_{tape,           batch,
                                                    x.dtype(),      x.value().size(0),
                                                    stack.products, static_cast<int>(stack.layers.size())} {
    if (trace != nullptr) trace->layers.resize(stack.layers.size());
    lengths_ = batch.lengths;
    if (lengths_.empty() || stack.at == ReadAt::last_padded_step) lengths_.assign(frame_.rows, steps());

    std::size_t states = 0;
    for (const StepProgram& program : stack.layers) states += program.states.size();
    if (!initial.empty() && initial.size() != states) {
      throw InputError({.op = "unroll"}, Rule::shape, "one window a state",
                       text_of(initial.size(), " for ", states));
    }
    if (!initial.empty()) {
      std::vector<Tensor> window;
      for (const Var& state : initial) window.push_back(state.value());
      check_grid_window("unroll", stack.layers, window);
    }
    for (const StepProgram& program : stack.layers) {
      add_layer(program, weights, trace == nullptr ? nullptr : &trace->layers[layers_.size()]);
      const auto windows = initial.empty() ? initial : initial.first(program.states.size());
      layers_.back().start(windows);
      initial = initial.subspan(windows.size());
    }
    if (stack.readout) add_layer(*stack.readout, weights);
    if (!weights.empty()) {
      throw InputError({.op = "unroll"}, Rule::shape,
                       text_of(weights.size(), " weights more than the programs have."));
    }
  }

  /// The outputs, [B, T, q] or [B, q].
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
        case ReadAt::mean: read = read + select(running, top, zeros_like(top)); break;
        case ReadAt::last_step:
        case ReadAt::last_padded_step: read = select(running, top, read);
      }
    }
    if (stack_.at == ReadAt::every_step) return stack(each, 1);
    if (stack_.at == ReadAt::mean) {
      Tensor counts({frame_.rows, 1}, frame_.dtype);
      for (std::int64_t row = 0; row < frame_.rows; ++row)
        counts.set(row, static_cast<double>(lengths_[row]));
      read = read / frame_.tape.constant(counts);
    }
    return read_out(read, Steps(frame_.rows, 0));
  }

  Var loss() {
    const Var y = outputs();
    if (stack_.loss.is_signal()) return signal_loss(y);
    const std::int64_t width = y.value().size(-1), scored_rows = y.value().numel() / width;
    const Var rows = reshape(y, {scored_rows, width});
    Rows scored(scored_rows, true);
    if (stack_.at == ReadAt::every_step) {
      for (std::int64_t i = 0; i < scored_rows; ++i) scored[i] = i % steps() < lengths_[i / steps()];
    }
    if (stack_.loss == Loss::cross_entropy)
      for (std::int64_t i = 0; i < scored_rows; ++i) scored[i] = scored[i] && batch_.classes.at(i) >= 0;
    const Var error = row_losses(rows, scored);
    double count = 0;
    Tensor is_scored(error.shape(), frame_.dtype);
    for (std::int64_t i = 0; i < is_scored.numel(); ++i) {
      const bool counts = scored[i / is_scored.size(1)] && !is_missing(i);
      is_scored.set(i, counts ? 1 : 0);
      count += counts ? 1 : 0;
    }
    return sum(select(scored, error, zeros_like(error)) * frame_.tape.constant(is_scored)) /
           std::max(count, 1.0);
  }

  std::vector<Var> window() const {
    std::vector<Var> windows;
    for (const UnrolledLayer& layer : layers_) layer.append_windows(lengths_, windows);
    return windows;
  }

 private:
  std::int64_t steps() const { return x_.value().size(1); }

  void add_layer(const StepProgram& program, std::span<const Var>& weights,
                 std::vector<UnrollTrace::Step>* trace = nullptr) {
    const std::size_t count = program.weights.size();
    if (weights.size() < count) {
      throw InputError({.op = "unroll"}, Rule::missing,
                       text_of("a weight is missing: '", program.weights[weights.size()].name, "'."));
    }
    layers_.emplace_back(frame_, program, static_cast<int>(layers_.size()), weights.first(count), trace);
    weights = weights.subspan(count);
  }

  template <class Predicate>
  Rows rows_where(Predicate holds) const {
    Rows rows;
    for (const std::int64_t length : lengths_) rows.push_back(holds(length));
    return rows;
  }

  /// Runs step n of all layers. The padding of x is replaced by zeros because NaN in it would make gradients
  /// NaN.
  Var run_layers(std::int64_t n, const Steps& now, const Rows& running) {
    const Var x = reshape(slice(x_, 1, n, n + 1), {frame_.rows, x_.value().size(2)});
    Var value = select(running, x, zeros_like(x));
    for (std::size_t i = 0; i < stack_.layers.size(); ++i) value = layers_[i].step(value, now, running);
    return value;
  }

  Var read_out(const Var& top, const Steps& at) {
    return stack_.readout ? layers_.back().step(top, at, Rows(frame_.rows, true)) : top;
  }

  /// Whether the targets' counts are followed by their units.
  bool has_units() const {
    return stack_.loss == Loss::negative_binomial && batch_.targets.size(-1) > stack_.target_width();
  }
  /// The position of a number of the targets, counted without units.
  std::int64_t place_of_target(std::int64_t i) const {
    return has_units() ? i + i / stack_.target_width() * stack_.target_width() : i;
  }

  /// Whether an element of the losses has no number.
  bool is_missing(std::int64_t place) const {
    return stack_.loss != Loss::cross_entropy &&
           std::isnan(batch_.targets.at(place_of_target(place / stack_.loss.terms_of_target())));
  }

  /// A number for each output, computed from its position.
  template <class F>
  Var constant_of(const Shape& shape, F number_at) {
    Tensor numbers(shape, frame_.dtype);
    for (std::int64_t i = 0; i < numbers.numel(); ++i) numbers.set(i, number_at(i));
    return frame_.tape.constant(numbers);
  }

  /// -log p of each target, [rows, targets], as one operation with the distribution's slopes.
  Var likelihoods(const Var& y) {
    const TargetDistribution& distribution = *stack_.loss.distribution();
    const std::int64_t each = stack_.loss.outputs_of_target(), count = y.value().numel() / each;
    Tensor losses({y.value().size(0), count / y.value().size(0)}, frame_.dtype),
        slopes(y.shape(), frame_.dtype);
    for (std::int64_t i = 0; i < count; ++i) {
      if (is_missing(i)) continue;
      const std::int64_t target = place_of_target(i);
      std::vector<double> parameters, slope(static_cast<std::size_t>(each));
      for (std::int64_t l = 0; l < each; ++l) parameters.push_back(y.value().at(i * each + l));
      losses.set(i, has_units()
                        ? count_likelihood(distribution, parameters.data(), batch_.targets.at(target),
                                           batch_.targets.at(target + stack_.target_width()), slope.data())
                        : distribution.negative_log_likelihood(parameters.data(), batch_.targets.at(target),
                                                               slope.data()));
      for (std::int64_t l = 0; l < each; ++l) slopes.set(i * each + l, slope[static_cast<std::size_t>(l)]);
    }
    return frame_.tape.record(losses, {y}, [slopes, each](const Tensor& d, InputGradients& inputs) {
      Tensor gradient = slopes.clone();
      for (std::int64_t i = 0; i < gradient.numel(); ++i) gradient.set(i, gradient.at(i) * d.at(i / each));
      inputs.add(0, gradient);
    });
  }

  /// The amount that each row of y [rows, q] adds to the loss: one number per term for real targets, else
  /// [rows, 1].
  Var row_losses(const Var& y, const Rows& scored) {
    const LossOptions& options = stack_.loss.options;
    const std::int64_t each = stack_.loss.outputs_of_target();
    const auto targets = [&] {
      return constant_of(y.shape(),
                         [&](std::int64_t i) { return is_missing(i) ? 0 : batch_.targets.at(i / each); });
    };
    switch (stack_.loss.kind) {
      case Loss::mse: return square(y - targets());
      case Loss::mae: return abs(y - targets());
      case Loss::huber: {
        const Var size = abs(y - targets());
        return 0.5 * square(minimum(size, options.delta)) + options.delta * relu(size - options.delta);
      }
      case Loss::quantile: {
        const Var level = constant_of(
            y.shape(), [&](std::int64_t i) { return options.levels[static_cast<std::size_t>(i % each)]; });
        const Var rest = targets() - y;
        return maximum(level * rest, (level - 1) * rest);
      }
      case Loss::gaussian:
      case Loss::student_t:
      case Loss::negative_binomial: return likelihoods(y);
      case Loss::binary_cross_entropy: {
        const Var weight = constant_of(y.shape(), [&](std::int64_t i) {
          return stack_.loss.class_weight(batch_.targets.at(i) == 1 ? 1 : 0);
        });
        const double smoothing = options.label_smoothing;
        return weight * (softplus(y) - (targets() * (1 - smoothing) + smoothing / 2) * y);
      }
      case Loss::cross_entropy: return class_losses(y, scored);
      case Loss::esr:  // signal_loss
      case Loss::dc:
      case Loss::none: break;
    }
    throw InputError({.op = "unroll_loss"}, Rule::missing, "the stack has no loss.");
  }

  /// esr and dc of y [B, T, q], from their formulas with masks.
  Var signal_loss(const Var& y) {
    const std::int64_t rows = frame_.rows, width = y.value().size(2);
    const double c = stack_.loss.options.pre_emphasis;
    const auto target_at = [&](std::int64_t row, std::int64_t n, std::int64_t j) {
      return n >= 0 && n < lengths_[row] ? batch_.targets.at((row * steps() + n) * width + j) : std::nan("");
    };
    Tensor targets(y.shape(), frame_.dtype), there(y.shape(), frame_.dtype), paired(y.shape(), frame_.dtype),
        share({rows, width}, frame_.dtype);
    double energy = 0, emphasized = 0, count = 0, pairs = 0;
    for (std::int64_t row = 0, i = 0; row < rows; ++row)
      for (std::int64_t n = 0; n < steps(); ++n)
        for (std::int64_t j = 0; j < width; ++j, ++i) {
          const double own = target_at(row, n, j), change = own - (c == 0 ? 0 : c * target_at(row, n - 1, j));
          if (std::isnan(own)) continue;
          targets.set(i, own);
          there.set(i, 1);
          share.set(row * width + j, share.at(row * width + j) + 1);
          energy += own * own, count += 1;
          if (std::isnan(change)) continue;
          paired.set(i, 1);
          emphasized += change * change, pairs += 1;
        }
    for (std::int64_t i = 0; i < share.numel(); ++i) share.set(i, share.at(i) > 0 ? 1 / share.at(i) : 0);
    Tape& tape = frame_.tape;
    const Var error = (y - tape.constant(targets)) * tape.constant(there);
    const Var first = tape.constant(Tensor({rows, 1, width}, frame_.dtype));
    const Var parts[] = {first, error};
    const Var before = slice(concatenate(parts, 1), 1, 0, steps());
    const double esr = stack_.loss.esr_weight() / std::max({emphasized, 1e-6 * pairs, 1e-300});
    const double dc = stack_.loss.dc_weight() / std::max({energy, 1e-6 * count, 1e-300});
    return sum(square((error - c * before) * tape.constant(paired))) * esr +
           sum(square(sum(error, 1, false)) * tape.constant(share)) * dc;
  }

  /// The cross-entropies of rows of logits, [rows, 1].
  Var class_losses(const Var& y, const Rows& scored) {
    Tape& tape = frame_.tape;
    const std::int64_t rows = y.value().size(0), classes = y.value().size(1);
    if (static_cast<std::int64_t>(batch_.classes.size()) != rows) {
      throw InputError({.op = "unroll_loss"}, Rule::shape, text_of("one class for each of ", rows, " rows"),
                       text_of(batch_.classes.size()));
    }
    const double smoothing = stack_.loss.options.label_smoothing;
    Tensor largest({rows, 1}, frame_.dtype), wanted(y.shape(), frame_.dtype), weight({rows, 1}, frame_.dtype);
    for (std::int64_t row = 0; row < rows; ++row) {
      double top = y.value().at(row * classes);
      for (std::int64_t j = 1; j < classes; ++j) top = std::max(top, y.value().at(row * classes + j));
      largest.set(row, top);
      if (!scored[row]) continue;
      for (std::int64_t j = 0; j < classes; ++j)
        wanted.set(row * classes + j,
                   smoothing / static_cast<double>(classes) + (j == batch_.classes[row] ? 1 - smoothing : 0));
      weight.set(row, stack_.loss.class_weight(batch_.classes[row]));
    }
    const Var shifted = y - tape.constant(largest);
    return tape.constant(weight) *
           (log(sum(exp(shifted), 1, true)) - sum(shifted * tape.constant(wanted), 1, true));
  }

  const StackDefinition& stack_;
  Var x_;
  const SequenceBatch& batch_;
  UnrollFrame frame_;
  std::vector<std::int64_t> lengths_;
  std::vector<UnrolledLayer> layers_;  // the read-out last
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

Var unroll_traced(Tape& tape, const StackDefinition& stack, std::span<const Var> weights, Var x,
                  const SequenceBatch& batch, std::span<const Var> initial, std::vector<Var>* final_window,
                  UnrollTrace& trace) {
  Unrolled unrolled(tape, stack, weights, x, batch, initial, &trace);
  const Var outputs = unrolled.outputs();
  if (final_window != nullptr) *final_window = unrolled.window();
  return outputs;
}

}  // namespace lagtape
