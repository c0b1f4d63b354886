#include "lagtape/ops/recurrence/oracle/unroll_layer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/ops/recurrence/oracle/unroll_product.h"
#include "lagtape/ops/recurrence/step/draws.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/shape.h"

namespace lagtape::recurrence {
namespace {

/// The shape of a value with a leading axis: the rows of the batch, or 1 for a value that is the same in all
/// rows.
Shape with_rows(std::int64_t rows, const RowShape& shape) {
  Shape axes = shape.axes();
  axes.insert(axes.begin(), rows);
  return axes;
}

Var ones(Tape& tape, Shape shape, Dtype dtype) {
  return tape.constant(Tensor::full(std::move(shape), dtype, 1));
}

/// `from` with the rows that are not chosen set to zero.
Tensor keep_rows(const Tensor& from, const Rows& chosen) {
  Tensor kept(from.shape(), from.dtype());
  const std::int64_t width = from.numel() / static_cast<std::int64_t>(chosen.size());
  for (std::int64_t i = 0; i < from.numel(); ++i) {
    if (chosen[i / width]) kept.set(i, from.at(i));
  }
  return kept;
}

/// The same value in every row of the batch, with a row axis added.
Var in_every_row(const Var& x, std::int64_t rows) {
  if (x.shape()[0] == rows) return x;
  Shape leading(x.shape().size(), 1);
  leading[0] = rows;
  return x * ones(x.tape(), leading, x.dtype());
}

}  // namespace

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

Var zeros_like(const Var& x) { return x.tape().constant(Tensor(x.shape(), x.dtype())); }

UnrolledLayer::UnrolledLayer(const UnrollFrame& frame, const StepProgram& program, int position,
                             std::span<const Var> weights, std::vector<UnrollTrace::Step>* trace)
    : frame_(frame),
      program_(program),
      position_(position),
      past_(program.states.size()),
      grid_(program.states.size()),
      trace_(trace) {
  check_grid(program);
  if (frame.products == ProductFormat::bf16 && position < frame.layers) saved_.emplace(program);
  for (int s = 0; s < static_cast<int>(program.states.size()); ++s)
    if (program.states[s].arithmetic == Arithmetic::grid) grid_states_[program.states[s].next] = s;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    Shape shape = program.weights[i].shape;
    if (shape.size() < 2) shape.insert(shape.begin(), 1);
    weights_.push_back(reshape(weights[i], shape));
  }
  if (trace_ == nullptr) return;
  anchor_ = frame_.tape.variable(Tensor({1}, frame_.dtype));
  find_seen_by_output();
}

void UnrolledLayer::start(std::span<const Var> initial) {
  for (std::size_t s = 0; s < past_.size(); ++s) {
    const StateDefinition& state = program_.states[s];
    if (state.arithmetic == Arithmetic::grid) {
      past_[s].push_back(start_on_grid(s, initial.empty() ? nullptr : &initial[s]));
      continue;
    }
    const Shape shape = with_rows(frame_.rows, state.shape);
    const std::int64_t length = program_.history(static_cast<int>(s)) + 1;
    for (std::int64_t k = 0; k < length; ++k) {
      past_[s].push_back(initial.empty() ? frame_.tape.constant(Tensor(shape, frame_.dtype))
                                         : reshape(slice(initial[s], 0, k, k + 1), shape));
    }
  }
}

Var UnrolledLayer::step(const Var& x, const Steps& steps, const Rows& running) {
  values_.clear();
  while (values_.size() < program_.values.size()) {
    const int id = static_cast<int>(values_.size());
    const auto grid_state = grid_states_.find(id);
    values_.push_back(grid_state == grid_states_.end() ? evaluate(id, x, steps)
                                                       : step_on_grid(grid_state->second));
    if (saved_) saved_->take(id, values_.back().value());
  }
  for (std::size_t s = 0; s < past_.size(); ++s) {
    const StateDefinition& state = program_.states[s];
    const Var next = in_every_row(values_[state.next], frame_.rows);
    const Var now_there = select(running, next, past_[s].back());
    past_[s].push_back(trace_ == nullptr ? now_there : set_apart(now_there));
    if (state.arithmetic != Arithmetic::grid) continue;
    Tensor& now = grid_[s].back();
    const Tensor& before = grid_[s][grid_[s].size() - 2];
    for (std::int64_t i = 0; i < now.numel(); ++i)
      if (!running[i / state.shape.width()]) now.set(i, before.at(i));
  }
  if (trace_ != nullptr) let_output_see_states(x, steps);
  const Var in_rows = in_every_row(values_[program_.output], frame_.rows);
  const Var output = reshape(in_rows, {frame_.rows, program_.values[program_.output].shape.width()});
  if (trace_ != nullptr) trace_->back().output = output;
  return output;
}

/// The same numbers as a separate node.
Var UnrolledLayer::set_apart(const Var& state) const {
  return frame_.tape.record(state.value(), {state, anchor_},
                            [](const Tensor& d, InputGradients& inputs) { inputs.add(0, d); });
}

/// The values that the output needs and that depend on a next value.
void UnrolledLayer::find_seen_by_output() {
  const auto is_next = [&](int id) {
    return std::ranges::find(program_.states, id, &StateDefinition::next) != program_.states.end();
  };
  const int count = static_cast<int>(program_.values.size());
  std::vector<bool> needed(count), changed(count);
  needed[program_.output] = true;
  for (int id = count - 1; id >= 0; --id) {
    if (!needed[id] || is_next(id)) continue;
    for (const int operand : {program_.values[id].a, program_.values[id].b})
      if (operand >= 0) needed[operand] = true;
  }
  for (int id = 0; id < count; ++id) {
    const Instruction& v = program_.values[id];
    const bool sees_states = (v.a >= 0 && changed[v.a]) || (v.b >= 0 && changed[v.b]);
    changed[id] = needed[id] && (is_next(id) || sees_states);
    if (changed[id] && !is_next(id)) seen_by_output_.push_back(id);
  }
}

/// Adds the step to the trace, and computes the output from the nodes of its states.
void UnrolledLayer::let_output_see_states(const Var& x, const Steps& steps) {
  trace_->push_back({values_, {}, {}});
  for (std::size_t s = 0; s < past_.size(); ++s) {
    trace_->back().states.push_back(past_[s].back());
    values_[program_.states[s].next] = past_[s].back();
  }
  for (const int id : seen_by_output_) values_[id] = evaluate(id, x, steps);
}

void UnrolledLayer::append_windows(const std::vector<std::int64_t>& lengths,
                                   std::vector<Var>& windows) const {
  const std::set<std::int64_t> ends(lengths.begin(), lengths.end());
  for (std::size_t s = 0; s < past_.size(); ++s) {
    const std::int64_t width = program_.states[s].shape.width();
    std::vector<Var> window;
    for (std::int64_t k = 0; k <= program_.history(static_cast<int>(s)); ++k) {
      const auto at = [&](std::int64_t n) {
        return grid_[s].empty() ? past_[s][n] : frame_.tape.constant(grid_[s][n]);
      };
      Var state = at(k + *ends.begin());
      for (const std::int64_t end : ends) {
        Rows rows;
        for (const std::int64_t length : lengths) rows.push_back(length == end);
        state = select(rows, at(k + end), state);
      }
      window.push_back(reshape(state, {frame_.rows, width}));
    }
    windows.push_back(stack(window));
  }
}

Var UnrolledLayer::evaluate(int id, const Var& x, const Steps& steps) const {
  const Instruction& v = program_.values[id];
  const auto a = [&] { return values_[v.a]; };
  switch (v.op) {
    case StepOp::input: return reshape(x, with_rows(frame_.rows, v.shape));
    case StepOp::state: return past(v.index, 0);
    case StepOp::lag: return past(v.index, v.lag);
    case StepOp::real_lag: return real_lag(v, a());
    case StepOp::weight: return weight(v.index);
    case StepOp::constant: return frame_.tape.constant(Tensor::full({1}, frame_.dtype, v.value));
    case StepOp::step_index: return step_index(v, steps);
    case StepOp::draw: return draw(v, steps);
    case StepOp::product: return product(v);
    case StepOp::sum: return sum(a(), -1);
    case StepOp::broadcast: {
      Shape with_axis = a().shape();
      with_axis.push_back(1);
      return reshape(a(), with_axis) * ones(frame_.tape, {v.shape.size}, frame_.dtype);
    }
    case StepOp::concatenate: {
      std::vector<Var> parts;
      for (const Var& part : {a(), values_[v.b]})
        parts.push_back(
            reshape(in_every_row(part, frame_.rows), {frame_.rows, part.value().numel() / part.shape()[0]}));
      return concatenate(parts, 1);
    }
    case StepOp::slice: return slice(a(), 1, v.index, v.index + v.shape.size);
    case StepOp::reshape: return reshape(a(), with_rows(a().shape()[0], v.shape));
    case StepOp::view: {
      const std::int64_t rows = a().shape()[0];
      Shape strides = strides_of(v);
      strides.insert(strides.begin(), a().value().numel() / rows);
      return as_strided(a(), with_rows(rows, v.shape), v.index, strides);
    }
    case StepOp::element: return element(id);
  }
  throw Error("[unroll] no rule for an operation.");
}

/// A vector of weights in the step.
Var UnrolledLayer::weight(int index) const {
  const Var& w = weights_[index];
  if (!saved_ || !saved_->sums_rounded(index)) return w;
  return with_rounded_adjoint(in_every_row(w, frame_.rows));
}

Var UnrolledLayer::element(int id) const {
  const Instruction& v = program_.values[id];
  const Var &a = values_[v.a], b = v.b < 0 ? Var() : values_[v.b];
  if (!saved_) return elementwise(v.element, a, b);
  const auto fixed = [](const Var& x) { return x.tape().constant(x.value()); };
  const Tensor y = elementwise(v.element, fixed(a), v.b < 0 ? Var() : fixed(b)).value();
  return elementwise_at({saved_->at(v.a), saved_->at(v.b), saved_->seen(id, y)}, v.element, y, a, b);
}

/// The state in the model's precision, from a window in f64.
Var UnrolledLayer::start_on_grid(std::size_t s, const Var* initial) {
  const RowShape& shape = program_.states[s].shape;
  Tensor grid(with_rows(frame_.rows, shape), Dtype::f64);
  for (std::int64_t i = 0; i < grid.numel() && initial != nullptr; ++i)
    grid.set(i, nearest_on_grid(initial->value().at(i)));
  grid_[s].push_back(grid);
  const Tensor view = grid.to(frame_.dtype);
  if (initial == nullptr) return frame_.tape.constant(view);
  return frame_.tape.record(view, {*initial}, [like = *initial](const Tensor& d, InputGradients& inputs) {
    inputs.add(0, d.to(Dtype::f64).reshaped(like.shape()));
  });
}

/// The rounding's derivative counts as one.
Var UnrolledLayer::step_on_grid(int s) {
  const GridUpdate update = *grid_update(program_, s);
  const double sign = update.negated ? -1 : 1;
  const Var increment = zeros_like(past(s, 0)) + values_[update.increment];  // a constant in every unit
  Tensor next = grid_[s].back().clone();
  for (std::int64_t i = 0; i < next.numel(); ++i)
    next.set(i, next.at(i) + sign * nearest_on_grid(increment.value().at(i)));
  grid_[s].push_back(next);
  return frame_.tape.record(next.to(frame_.dtype), {past(s, 0), increment},
                            [sign](const Tensor& d, InputGradients& inputs) {
                              inputs.add(0, d);
                              Tensor scaled(d.shape(), d.dtype());
                              for (std::int64_t i = 0; i < d.numel(); ++i) scaled.set(i, sign * d.at(i));
                              inputs.add(1, scaled);
                            });
}

Var UnrolledLayer::step_index(const Instruction& v, const Steps& steps) const {
  Tensor n({frame_.rows}, frame_.dtype);
  for (std::int64_t row = 0; row < frame_.rows; ++row)
    n.set(row, std::floor(static_cast<double>(steps[row]) / (v.lag > 1 ? static_cast<double>(v.lag) : 1.0)));
  return frame_.tape.constant(n);
}

Var UnrolledLayer::draw(const Instruction& v, const Steps& steps) const {
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

/// A matrix counts as narrow with at most two rows or columns; the work is then element-wise and not rounded.
/// Adjoints are rounded row by row, even for an operand that is the same in all rows.
Var UnrolledLayer::product(const Instruction& v) const {
  const Var &a = values_[v.a], &w = weights_[v.index];
  if (frame_.products == ProductFormat::scalar || position_ >= frame_.layers) return linear(a, w);
  const Instruction& operand = program_.values[v.a];
  const std::int64_t out = w.shape()[0], in = w.shape()[1], narrow = 2;
  const auto readers = std::ranges::count_if(
      program_.values, [&](const Instruction& i) { return i.op == StepOp::product && i.index == v.index; });
  const Tensor saved = in_every_row(frame_.tape.constant(saved_->at(v.a)), frame_.rows).value();
  return product_in_bf16(
      in_every_row(a, frame_.rows), w, saved,
      {.value = operand.op == StepOp::input && operand.shape.groups == 1 && in <= narrow,
       .weight_gradient = readers == 1 && operand.shape.groups == 1 && (in <= narrow || out <= narrow),
       .rounded_sum = saved_->sums_rounded(v.index)});
}

/// Units whose lags have the same integer part are read together.
Var UnrolledLayer::real_lag(const Instruction& v, const Var& tau) const {
  const Tensor& lags = tau.value();
  const double longest = static_cast<double>(v.lag);
  const double last = std::max(longest - 1, 1.0);
  const auto whole = [&](std::int64_t i) { return std::floor(std::clamp(lags.at(i), 1.0, last)); };
  std::set<double> wholes;
  for (std::int64_t i = 0; i < lags.numel(); ++i) wholes.insert(whole(i));

  Var sum;
  for (const double k : wholes) {
    Tensor here(lags.shape(), lags.dtype()), moving = here.clone(), beyond = here.clone();
    for (std::int64_t i = 0; i < lags.numel(); ++i) {
      if (whole(i) != k) continue;
      here.set(i, 1);
      if (lags.at(i) >= 1 && lags.at(i) <= longest) moving.set(i, 1);
      if (lags.at(i) > longest) beyond.set(i, 1);
    }
    const std::int64_t lag = static_cast<std::int64_t>(k);
    const Var fraction = (tau - k) * frame_.tape.constant(moving) + frame_.tape.constant(beyond);
    const Var read = (1 - fraction) * past(v.index, lag) + fraction * past(v.index, std::min(lag + 1, v.lag));
    const Var part = read * frame_.tape.constant(here);
    sum = k == *wholes.begin() ? part : sum + part;
  }
  return sum;
}

}  // namespace lagtape::recurrence
