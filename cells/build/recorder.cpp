#include "lagtape/cells/build/recorder.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {

LayerRecorder::LayerRecorder(std::int64_t input, const Initializer& initializer)
    : tape_(input), initializer_(initializer) {}

TimeOfStep LayerRecorder::step_time(double dt, const StepTime& reads, bool passed_on) {
  if (!reads.column) return {dt, {}};
  const std::int64_t width = tape_.input().shape().size;
  const std::int64_t at = *reads.column < 0 ? *reads.column + width : *reads.column;
  if (at < 0 || at >= width)
    throw InputError({.item = "reads"}, Rule::out_of_range,
                     text_of("the input has ", width, " columns, 0 to ", width - 1, " or -1 to ", -width),
                     text_of(*reads.column));
  if (width < 2)
    throw InputError({.item = "reads"}, Rule::shape,
                     "the input is the time of a step alone, and nothing is left that the cell may read", {},
                     "Add a column to the inputs.");
  if (at == 0)
    rest_ = tape_.slice(tape_.input(), 1, width);
  else
    rest_ = tape_.slice(tape_.input(), 0, at);
  if (at > 0 && at + 1 < width) rest_ = tape_.concatenate(*rest_, tape_.slice(tape_.input(), at + 1, width));
  const StepVar column = tape_.slice(tape_.input(), at, at + 1);
  if (passed_on) passed_on_ = column;
  return {dt, tape_.sum(column)};
}

StepVar LayerRecorder::vector(const std::string& name, std::int64_t size) {
  declare(name, {size});
  return tape_.vector(name, size);
}

StepVar LayerRecorder::scalar(const std::string& name) {
  declare(name, {});
  return tape_.scalar(name);
}

StepMatrix LayerRecorder::matrix(const std::string& name, std::int64_t out, std::int64_t in) {
  declare(name, {out, in});
  return tape_.matrix(name, out, in);
}

StepVar LayerRecorder::linear(const std::string& name, std::int64_t units, StepVar v) {
  return product(matrix(name, units, v.shape().size), v);
}

StepVar LayerRecorder::linear(const std::string& name, std::int64_t units, StepVar v, std::int64_t rank) {
  if (rank == 0) return linear(name, units, v);
  return linear(name + "1", units, linear(name + "2", rank, v));
}

StepVar LayerRecorder::affine(const std::string& name, std::int64_t units, StepVar v) {
  const StepVar Wv = linear(name, units, v);
  return Wv + vector(name + ".bias", units);
}

void LayerRecorder::parameter(const std::string& name, Shape shape) { declare(name, std::move(shape)); }

StepMatrix LayerRecorder::derived_matrix(const std::string& name, std::int64_t out, std::int64_t in,
                                         std::vector<std::string> of, WeightFunction f) {
  derived_.push_back({name, std::move(of), std::move(f)});
  return tape_.matrix(name, out, in);
}

StepVar LayerRecorder::derived_vector(const std::string& name, std::int64_t size, std::vector<std::string> of,
                                      WeightFunction f) {
  derived_.push_back({name, std::move(of), std::move(f)});
  return tape_.vector(name, size);
}

StepVar LayerRecorder::derived_scalar(const std::string& name, std::vector<std::string> of,
                                      WeightFunction f) {
  derived_.push_back({name, std::move(of), std::move(f)});
  return tape_.scalar(name);
}

void LayerRecorder::start(const std::string& name, const Initializer& initializer,
                          const std::string& draws_of) {
  ParameterDefinition& parameter = find(name);
  parameter.initializer = initializer;
  parameter.draws_of = draws_of;
}

void LayerRecorder::keep_within(const std::string& name, Bounds bounds) { find(name).bounds = bounds; }

void LayerRecorder::start_biases(const Initializer& initializer) {
  for (ParameterDefinition& parameter : parameters_) {
    if (parameter.name.ends_with(".bias")) parameter.initializer = initializer;
  }
}

StepVar LayerRecorder::named(const std::string& name, StepVar v) {
  tape_.name(name, v);
  return v;
}

Layer LayerRecorder::finish(StepVar output) {
  tape_.set_output(passed_on_ ? tape_.concatenate(output, *passed_on_) : output);
  Layer layer{tape_.finish(), std::move(parameters_), {}};
  if (!derived_.empty()) layer.weights = weights_with(layer.program, layer.parameters, derived_);
  if (!unit_weights_.empty()) layer.derived_step = derived_step(std::move(unit_weights_));
  return layer;
}

ParameterDefinition& LayerRecorder::find(const std::string& name) {
  const auto parameter = std::ranges::find(parameters_, name, &ParameterDefinition::name);
  if (parameter == parameters_.end()) throw Error(text_of("[find] there is no parameter '", name, "'."));
  return *parameter;
}

void LayerRecorder::declare(const std::string& name, Shape shape) {
  parameters_.push_back({name, std::move(shape), initializer_});
}

}  // namespace lagtape
