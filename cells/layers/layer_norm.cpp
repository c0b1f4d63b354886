#include "lagtape/cells/layers/layer_norm.h"

#include "lagtape/cells/build/options.h"
#include "lagtape/cells/build/read_layer.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

constexpr Option kLayerNormOptions[] = {
    option<&LayerNorm::eps>("eps", above(0), "added to the variance"),
};

constinit const LayerEntry LayerNorm::kEntry = {
    .name = "layer_norm",
    .kind = "layer",
    .summary = "layer normalization: the elements of every step get mean 0 and variance 1",
    .source = "Layer Normalization (Ba, Kiros and Hinton 2016)",
    .equations = "y = gain * (x - mean(x)) / sqrt(mean((x - mean(x)) ** 2) + eps) + bias",
    .options = kLayerNormOptions,
    .read = read_layer_with_init<LayerNorm>,
};

Layer LayerNorm::build(std::int64_t input) const {
  require_valid(*this);
  LayerRecorder step(input, Initializer::constant(0));
  const StepVar x = step.input();
  const StepVar centered = x - mean(x);
  const StepVar deviation = sqrt(mean(centered * centered) + eps);
  const StepVar gain = step.vector("gain", input);
  const StepVar bias = step.vector("bias", input);
  step.start("gain", Initializer::constant(1));
  return step.finish(gain * (centered / deviation) + bias);
}

}  // namespace lagtape
