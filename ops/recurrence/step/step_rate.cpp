#include "lagtape/ops/recurrence/step/step_rate.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

/// Records a step once more, with its past further away.
class RateRecorder {
 public:
  RateRecorder(const StepProgram& program, double rate, Interpolation interpolation)
      : program_(program), rate_(rate), interpolation_(interpolation), tape_(program.input.width()) {
    for (const StateDefinition& state : program.states)
      states_.push_back(tape_.state(state.name, state.shape));
    for (const WeightDefinition& weight : program.weights) declare(weight);
  }

  StepProgram record() {
    for (const Instruction& instruction : program_.values) values_.push_back(recorded(instruction));
    for (std::size_t s = 0; s < states_.size(); ++s)
      tape_.set_next(states_[s], values_[program_.states[s].next]);
    for (const NamedValue& named : program_.named) tape_.name(named.name, values_[named.value]);
    tape_.set_output(values_[program_.output]);
    return tape_.finish();
  }

 private:
  void declare(const WeightDefinition& weight) {
    Weight declared;
    if (weight.shape.size() == 2)
      declared.matrix = tape_.matrix(weight.name, weight.shape[0], weight.shape[1]);
    if (weight.shape.size() == 1) declared.value = tape_.vector(weight.name, weight.shape[0]);
    if (weight.shape.empty()) declared.value = tape_.scalar(weight.name);
    weights_.push_back(declared);
  }

  /// A state so many steps of training before the next one.
  StepVar past(int state, std::int64_t steps) {
    constexpr double kWhole = 1e-9;
    const double lag = rate_ * static_cast<double>(steps) - 1;
    const auto nearest = std::llround(lag);
    if (std::abs(lag - static_cast<double>(nearest)) < kWhole) return tape_.lag(states_[state], nearest);
    const auto below = static_cast<std::int64_t>(std::floor(lag));
    // Values after the present one are not known yet: short lags, and those below 0, go through the present and
    // those before it.
    if (interpolation_ == Interpolation::linear)
      return through(state, std::max<std::int64_t>(0, below), 2, lag);
    // Four points amplify far from their middle, and three do not within half a step of theirs.
    if (lag > 0.5 && lag < 1) return through(state, 0, 3, lag);
    return through(state, std::max<std::int64_t>(0, below - 1), 4, lag);
  }

  /// The value at `lag` of the polynomial through `count` past values.
  StepVar through(int state, std::int64_t first, std::int64_t count, double lag) {
    StepVar sum;
    for (std::int64_t j = 0; j < count; ++j) {
      double factor = 1;
      for (std::int64_t m = 0; m < count; ++m)
        if (m != j) factor *= (lag - static_cast<double>(first + m)) / static_cast<double>(j - m);
      const StepVar term = factor * tape_.lag(states_[state], first + j);
      sum = j == 0 ? term : sum + term;
    }
    return sum;
  }

  StepVar draw(const DrawDefinition& draw, RowShape shape) {
    if (draw.kind == DrawDefinition::Kind::mask) return tape_.mask(shape, draw.rate, draw.every_step);
    return tape_.draw(draw.kind, shape, draw.every_step, draw.evaluation);
  }

  StepVar recorded(const Instruction& v) {
    const auto operand = [&](int id) { return values_[id]; };
    switch (v.op) {
      case StepOp::input: return tape_.input();
      case StepOp::state: return past(v.index, 1);
      case StepOp::lag: return past(v.index, 1 + v.lag);
      case StepOp::real_lag:
        throw InputError({.op = "rate"}, Rule::not_supported,
                         "a step with trained lags runs at its own rate only");
      case StepOp::step_index:
        throw InputError({.op = "rate"}, Rule::not_supported,
                         "a step that reads its index n runs at its own rate only");
      case StepOp::weight: return weights_[v.index].value;
      case StepOp::constant: return tape_.constant(v.value);
      case StepOp::draw: return draw(program_.draws[v.index], v.shape);
      case StepOp::product: return tape_.product(weights_[v.index].matrix, operand(v.a));
      case StepOp::element:
        return v.b < 0 ? tape_.unary(v.element, operand(v.a))
                       : tape_.binary(v.element, operand(v.a), operand(v.b));
      case StepOp::sum: return tape_.sum(operand(v.a));
      case StepOp::broadcast: return tape_.broadcast(operand(v.a), v.shape);
      case StepOp::reshape: return tape_.reshape(operand(v.a), v.shape);
      case StepOp::concatenate: return tape_.concatenate(operand(v.a), operand(v.b));
      case StepOp::slice: return tape_.slice(operand(v.a), v.index, v.index + v.shape.size);
    }
    throw Error("[rate] unknown operation");
  }

  struct Weight {
    StepMatrix matrix;
    StepVar value;
  };
  const StepProgram& program_;
  double rate_;
  Interpolation interpolation_;
  StepTape tape_;
  std::vector<StepVar> states_, values_;
  std::vector<Weight> weights_;
};

}  // namespace

Interpolation interpolation_named(const std::string& name) {
  if (name == "linear") return Interpolation::linear;
  if (name == "cubic") return Interpolation::cubic;
  throw InputError(unknown_name("interpolation", name, {"linear", "cubic"}));
}

StepProgram step_at_rate(const StepProgram& program, double rate, Interpolation interpolation) {
  if (!(rate >= kSmallestRate && rate <= kLargestRate))
    throw InputError({.op = "rate"}, Rule::out_of_range,
                     text_of("a recurrence runs at ", kSmallestRate, " to ", kLargestRate, " times its rate"),
                     text_of(rate));
  if (rate == 1) return program;
  StepProgram result = RateRecorder(program, rate, interpolation).record();
  if (!std::ranges::equal(result.weights, program.weights, {}, &WeightDefinition::name,
                          &WeightDefinition::name))
    throw Error("[rate] the weights are in another order");
  return result;
}

}  // namespace lagtape
