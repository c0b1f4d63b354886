#include "lagtape/cells/recorder.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {

LayerRecorder::LayerRecorder(std::int64_t input, const Initializer& initializer)
    : tape_(input), initializer_(initializer) {}

StepVar LayerRecorder::vector(const std::string& name, std::int64_t size) {
  declare(name, {size});
  return tape_.vector(name, size);
}

StepVar LayerRecorder::scalar(const std::string& name) {
  declare(name, {});
  return tape_.scalar(name);
}

StepVar LayerRecorder::linear(const std::string& name, std::int64_t units, StepVar v) {
  const std::int64_t width = v.shape().size;
  declare(name, {units, width});
  return product(tape_.matrix(name, units, width), v);
}

StepVar LayerRecorder::affine(const std::string& name, std::int64_t units, StepVar v) {
  const StepVar Wv = linear(name, units, v);
  return Wv + vector(name + ".bias", units);
}

void LayerRecorder::start(const std::string& name, const Initializer& initializer,
                          const std::string& draws_of) {
  const auto parameter = std::ranges::find(parameters_, name, &ParameterDefinition::name);
  if (parameter == parameters_.end()) throw Error(concat("[start] there is no parameter '", name, "'."));
  parameter->initializer = initializer;
  parameter->draws_of = draws_of;
}

void LayerRecorder::start_biases(const Initializer& initializer) {
  for (ParameterDefinition& parameter : parameters_) {
    if (parameter.name.ends_with(".bias")) parameter.initializer = initializer;
  }
}

Layer LayerRecorder::finish(StepVar output) {
  tape_.set_output(output);
  return {tape_.finish(), std::move(parameters_), {}};
}

void LayerRecorder::declare(const std::string& name, Shape shape) {
  parameters_.push_back({name, std::move(shape), initializer_});
}

}  // namespace lagtape
