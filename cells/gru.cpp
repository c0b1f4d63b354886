#include "lagtape/cells/gru.h"

#include "lagtape/cells/recorder.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

void Gru::read(JsonReader& reader) {
  reader.required("units", units, between(1, kLargestUnits), "size of the state");
}

Layer Gru::build(std::int64_t input) const {
  LayerRecorder step(input, Initializer::uniform_of(units));
  const StepVar x = step.input();
  const StepVar h = step.state("h", units);
  const auto gate = [&](const std::string& name) {
    const StepVar Wh = step.affine("W_" + name, units, h);
    const StepVar Ux = step.affine("U_" + name, units, x);
    return sigmoid(Wh + Ux);
  };

  const StepVar r = gate("r");
  const StepVar z = step.named("z", gate("z"));
  const StepVar Wh = step.affine("W_n", units, h);
  const StepVar Ux = step.affine("U_n", units, x);
  const StepVar c = tanh(Ux + r * Wh);
  const StepVar next = (1 - z) * c + z * h;

  step.tape().set_next(h, next);
  return step.finish(next);
}

}  // namespace lagtape
