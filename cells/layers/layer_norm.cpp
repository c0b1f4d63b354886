#include "lagtape/cells/layers/layer_norm.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

constinit const LayerEntry LayerNorm::kEntry = {
    .name = "layer_norm",
    .kind = "layer",
    .summary = "layer normalisation: the elements of every step get mean 0 and variance 1",
    .source = "Layer Normalization (Ba, Kiros and Hinton 2016)",
    .equations = "y = gain * (x - mean(x)) / sqrt(mean((x - mean(x)) ** 2) + eps) + bias",
    .read = read_layer_with_init<LayerNorm>,
};

void LayerNorm::read(JsonReader& reader) { reader.optional("eps", eps, above(0), "added to the variance"); }

Layer LayerNorm::build(std::int64_t input) const {
  check(*this);
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
