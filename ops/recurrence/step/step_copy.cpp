#include "lagtape/ops/recurrence/step/step_copy.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape {

StepCopy::StepCopy(const StepProgram& program) : program_(program), tape_(program.input.width()) {
  for (const StateDefinition& state : program.states) states_.push_back(tape_.state(state.name, state.shape));
  for (const WeightDefinition& weight : program.weights) declare(weight);
}

StepProgram StepCopy::record() {
  for (const Instruction& instruction : program_.values) values_.push_back(recorded(instruction));
  for (std::size_t s = 0; s < states_.size(); ++s)
    tape_.set_next(states_[s], values_[program_.states[s].next]);
  for (const NamedValue& named : program_.named) tape_.name(named.name, values_[named.value]);
  tape_.set_output(values_[program_.output]);
  StepProgram copy = tape_.finish();
  if (!std::ranges::equal(copy.weights, program_.weights, {}, &WeightDefinition::name,
                          &WeightDefinition::name))
    throw Error("[step] the weights of a copy are in another order");
  return copy;
}

void StepCopy::declare(const WeightDefinition& weight) {
  Weight declared;
  if (weight.shape.size() == 2) declared.matrix = tape_.matrix(weight.name, weight.shape[0], weight.shape[1]);
  if (weight.shape.size() == 1) declared.value = tape_.vector(weight.name, weight.shape[0]);
  if (weight.shape.empty()) declared.value = tape_.scalar(weight.name);
  weights_.push_back(declared);
}

StepVar StepCopy::draw(const DrawDefinition& draw, RowShape shape) {
  if (draw.kind == DrawDefinition::Kind::mask) return tape_.mask(shape, draw.rate, draw.every_step);
  return tape_.draw(draw.kind, shape, draw.every_step, draw.evaluation);
}

StepVar StepCopy::recorded(const Instruction& v) {
  switch (v.op) {
    case StepOp::input: return tape_.input();
    case StepOp::state: return past(v.index, 0);
    case StepOp::lag: return past(v.index, v.lag);
    case StepOp::real_lag: return real_past(v);
    case StepOp::step_index: return step_index(v);
    case StepOp::weight: return weights_[v.index].value;
    case StepOp::constant: return tape_.constant(v.value);
    case StepOp::draw: return draw(program_.draws[v.index], v.shape);
    case StepOp::product: return tape_.product(weights_[v.index].matrix, copied(v.a));
    default: return tape_.replay(v, copied(v.a), v.b < 0 ? StepVar() : copied(v.b));
  }
}

}  // namespace lagtape
