#include "lagtape/cells/layers/layer_norm.h"

#include "lagtape/cells/recorder.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

void LayerNorm::read(JsonReader& reader) { reader.optional("eps", eps, above(0), "added to the variance"); }

Layer LayerNorm::build(std::int64_t input) const {
  LayerRecorder step(input, Initializer::constant(0));
  const StepVar x = step.input();
  const StepVar centred = x - mean(x);
  const StepVar deviation = sqrt(mean(centred * centred) + eps);
  const StepVar gain = step.vector("gain", input);
  const StepVar bias = step.vector("bias", input);
  step.start("gain", Initializer::constant(1));
  return step.finish(gain * (centred / deviation) + bias);
}

}  // namespace lagtape
