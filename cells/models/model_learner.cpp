#include <utility>
#include <vector>

#include "lagtape/cells/models/model_implementation.h"
#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"

namespace lagtape {

namespace {

LearnedLayer learned_layer(const Layer& layer, std::vector<Tensor>& values) {
  LearnedLayer learned{layer.program, {}, {}};
  if (layer.derived_step) learned.derived = layer.derived_step();
  for (std::size_t p = 0; p < layer.parameters.size(); ++p) {
    const ParameterDefinition& of = layer.parameters[p];
    learned.weights.push_back({of.name, values[p], of.trainable, of.bounds});
  }
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(layer.parameters.size()));
  return learned;
}

}  // namespace

template <class T>
Learner<T> Model::learner(const LearnerOptions& options) const {
  const PlainArithmetic plain;
  const Implementation& m = *implementation_;
  if (dtype_of<T> != dtype())
    throw InputError({.op = "learner"}, Rule::wrong_type,
                     text_of("the model is ", name_of(dtype()), ". Asked for ", name_of(dtype_of<T>)));
  if (m.chain.parts.size() > 1 || tokens() > 0 || m.evaluated.empty())
    throw InputError(
        {.op = "learner"}, Rule::not_supported,
        "a learner is for models of one sequence op: without embedding, batch_norm and bidirectional");
  if (at() == ReadAt::mean)
    throw InputError({.op = "learner"}, Rule::not_supported,
                     "a read-out of the mean has no output of single steps");
  std::vector<Tensor> values;
  for (const Parameter& parameter : m.parameters) values.push_back(parameter.value);
  std::vector<LearnedLayer> layers;
  for (const Layer& layer : m.evaluated) layers.push_back(learned_layer(layer, values));
  layers.push_back(learned_layer(m.fitted.readout, values));
  return Learner<T>(std::move(layers), loss(), only_normalization("learner"), start(), options);
}

template <class T>
void Model::take(const Learner<T>& learner) {
  const std::vector<Tensor> values = learner.weights();
  Parameters& own = parameters();
  bool fits = values.size() == own.size() && dtype_of<T> == dtype();
  std::size_t i = 0;
  for (const Parameter& parameter : own) fits = fits && values[i++].shape() == parameter.value.shape();
  if (!fits) throw InputError({.op = "take"}, Rule::shape, "the learner is one of another model");
  i = 0;
  for (Parameter& parameter : own) parameter.value = values[i++];
  implementation_->predictors.clear();
}

template Learner<float> Model::learner(const LearnerOptions&) const;
template Learner<double> Model::learner(const LearnerOptions&) const;
template void Model::take(const Learner<float>&);
template void Model::take(const Learner<double>&);

}  // namespace lagtape
