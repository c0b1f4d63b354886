#include "lagtape/cells/cornn.h"

#include "lagtape/cells/build/option_kinds.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

constexpr Option kCoRnnOptions[] = {
    required<&CoRnn::units>("units", between(1, kLargestUnits), "number of oscillators"),
    required<&CoRnn::dt>("dt", above(0), "time step"),
    required<&CoRnn::gamma>("gamma", at_least(0), "squared frequency of an oscillator without coupling"),
    required<&CoRnn::epsilon>("epsilon", at_least(0), "damping"),
    option<&CoRnn::reads>("reads", kStepTime, kAboutStepTime),
};

constinit const LayerEntry CoRnn::kEntry = {
    .name = "cornn",
    .summary = "coupled oscillators, damped and driven by the input",
    .source =
        "Coupled Oscillatory Recurrent Neural Network (coRNN): An accurate and (gradient) stable "
        "architecture for learning long time dependencies",
    .equations =
        "z' = z + dt * (tanh(Wz @ z + Wy @ y + V @ x + V.bias) - gamma * y - epsilon * z)\n"
        "y' = y + dt * z'",
    .options = kCoRnnOptions,
    .read = read_cell<CoRnn>,
};

Layer CoRnn::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::uniform_of(input + 2 * units));
  StepTape& tape = step.tape();
  const TimeOfStep time = step.step_time(dt, reads);
  const StepVar z = step.state("z", units);
  const StepVar y = step.state("y", units);

  const StepVar Wz = step.linear("Wz", units, z);
  const StepVar Wy = step.linear("Wy", units, y);
  const StepVar Vx = step.affine("V", units, step.input());
  const StepVar z_next = z + time * (tanh(Wz + Wy + Vx) - gamma * y - epsilon * z);
  const StepVar y_next = y + time * z_next;

  tape.set_next(z, z_next);
  tape.set_next(y, y_next);
  return step.finish(y_next);
}

}  // namespace lagtape
