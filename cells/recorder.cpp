#include "lagtape/cells/recorder.h"

#include <utility>

namespace lagtape {

std::int64_t Layer::parameter_count() const {
  std::int64_t count = 0;
  for (const ParameterDefinition& parameter : parameters) count += element_count(parameter.shape);
  return count;
}

LayerRecorder::LayerRecorder(std::int64_t input, const Initializer& initializer)
    : tape_(input), initializer_(initializer) {}

StepVar LayerRecorder::affine(const std::string& name, std::int64_t units, StepVar v) {
  const std::int64_t width = v.shape().size;
  const StepMatrix matrix = tape_.matrix(name, units, width);
  const StepVar bias = tape_.vector(name + ".bias", units);
  declare(name, {units, width});
  declare(name + ".bias", {units});
  return product(matrix, v) + bias;
}

Layer LayerRecorder::finish(StepVar output) {
  tape_.set_output(output);
  return {tape_.finish(), std::move(parameters_), {}};
}

void LayerRecorder::declare(const std::string& name, Shape shape) {
  parameters_.push_back({name, std::move(shape), initializer_});
}

}  // namespace lagtape
