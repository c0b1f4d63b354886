#include "lagtape/ops/delay/stage_recorder.h"

#include "lagtape/core/error.h"

namespace lagtape {

StageRecorder::StageRecorder(const RightSide& side, std::int64_t input_width)
    : side_(side), tape_(input_width), reads_input_(lagtape::reads_input(side)) {
  for (const RightSide::State& state : side.states) {
    const Instruction& v = side.program.values[state.value];
    states_.push_back(tape_.state(side.program.states[v.index].name, v.shape));
  }
}

const std::string& StageRecorder::name_of_state(std::size_t state) const {
  return side_.program.states[side_.program.values[side_.states[state].value].index].name;
}

StepVar StageRecorder::value(int id, Stage& stage) {
  const Instruction& v = side_.program.values[id];
  auto& known = v.op == StepOp::weight ? weights_ : stage.known;
  if (const auto found = known.find(id); found != known.end()) return found->second;
  StepVar value;
  if (is_leaf(v.op)) {
    value = leaf(id, v, stage);
  } else {
    const StepVar a = this->value(v.a, stage), b = v.b < 0 ? a : this->value(v.b, stage);
    value = v.op == StepOp::product ? tape_.product(matrix(v.index), a) : tape_.replay(v, a, b);
  }
  known[id] = value;
  return value;
}

std::vector<StepVar> StageRecorder::slopes(Stage& stage) {
  std::vector<StepVar> f;
  for (const RightSide::State& state : side_.states) f.push_back(value(state.slope, stage));
  return f;
}

StepVar StageRecorder::history(std::size_t state, StepVar time, bool slope) {
  const int id = slope ? side_.states[state].history_slope : side_.states[state].history;
  if (id < 0) return tape_.constant(0);
  Stage before{.y = {}, .time = minimum(time, tape_.constant(0))};
  return value(id, before);
}

StepVar StageRecorder::leaf(int id, const Instruction& v, Stage& stage) {
  if (v.op == StepOp::input) return stage.input;
  if (v.op == StepOp::constant) return tape_.constant(v.value);
  if (v.op == StepOp::weight) {
    const WeightDefinition& weight = side_.program.weights[v.index];
    return weight.shape.empty() ? tape_.scalar(weight.name) : tape_.vector(weight.name, weight.shape[0]);
  }
  if (id == side_.time || id == side_.history_time) return stage.time;
  for (std::size_t s = 0; s < side_.states.size(); ++s)
    if (side_.states[s].value == id) return stage.y.at(s);
  for (std::size_t r = 0; r < side_.reads.size(); ++r)
    if (side_.reads[r].value == id) return past(r, stage);
  throw Error("[ode] a leaf without a value");
}

StepMatrix StageRecorder::matrix(int index) {
  const WeightDefinition& weight = side_.program.weights[index];
  const auto known = matrices_.find(index);
  if (known != matrices_.end()) return known->second;
  return matrices_[index] = tape_.matrix(weight.name, weight.shape[0], weight.shape[1]);
}

}  // namespace lagtape
