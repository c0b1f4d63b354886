#include "lagtape/tools/train/training_cost.h"

#include <set>
#include <string>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

std::int64_t bytes_in(const Tensor& tensor) {
  return tensor.numel() * static_cast<std::int64_t>(byte_size(tensor.dtype()));
}

/// Counts of a layer's numbers.
struct LayerNumbers {
  std::int64_t derived = 0;    ///< numbers of derived weights
  std::int64_t replaced = 0;   ///< numbers of the parameters that they are derived from
  std::int64_t looked_up = 0;  ///< numbers of weights in no product
};

LayerNumbers numbers_of(const Layer& layer) {
  LayerNumbers numbers;
  if (layer.whole) {
    if (layer.whole->ops().empty())
      for (const ParameterDefinition& parameter : layer.parameters)
        numbers.looked_up += element_count(parameter.shape);
    return numbers;
  }
  std::set<std::string> parameters, weights;
  for (const ParameterDefinition& parameter : layer.parameters) parameters.insert(parameter.name);
  for (const WeightDefinition& weight : layer.program.weights) {
    weights.insert(weight.name);
    if (!parameters.contains(weight.name)) numbers.derived += element_count(weight.shape);
  }
  for (const ParameterDefinition& parameter : layer.parameters)
    if (!weights.contains(parameter.name)) numbers.replaced += element_count(parameter.shape);
  return numbers;
}

}  // namespace

TrainingCost training_cost(const Experiment& experiment, const Model& model) {
  // Parameters: values, gradients, the values before an update, the best ones so far.
  // Weights: packed for products and for their transposes, gradients of the batch and, in the plan, of a thread.
  constexpr std::int64_t kCopiesOfParameters = 4, kCopiesOfWeights = 5, kCopiesWithoutProducts = 2;
  TrainingCost cost{.parameters = model.parameters().count()};
  for (const Parameter& parameter : model.parameters()) cost.parameter_bytes += bytes_in(parameter.value);
  const auto size = static_cast<std::int64_t>(byte_size(model.dtype()));
  std::int64_t replaced = 0, looked_up = 0;
  for (const Layer& layer : model.fitted().layers) {
    const LayerNumbers numbers = numbers_of(layer);
    cost.derived_bytes += numbers.derived * size;
    replaced += numbers.replaced * size;
    looked_up += numbers.looked_up * size;
  }
  const std::int64_t weights = cost.parameter_bytes - replaced + cost.derived_bytes;
  cost.training_bytes = kCopiesOfParameters * cost.parameter_bytes + 2 * cost.derived_bytes +
                        kCopiesOfWeights * (weights - looked_up) + kCopiesWithoutProducts * looked_up;
  if (experiment.train.average) cost.training_bytes += 3 * cost.parameter_bytes;  // means in f64, and a copy
  for (const NamedTensor& state : experiment.optimizer.make(model.parameters())->state())
    cost.training_bytes += bytes_in(state.tensor);
  return cost;
}

std::string text_of_cost(const TrainingCost& cost) {
  const bool has_derived = cost.derived_bytes > 0;
  const std::string derived =
      has_derived ? text_of(", ", bytes_of(cost.derived_bytes), " of weights derived from them") : "";
  return text_of("the parameters ", bytes_of(cost.parameter_bytes), derived,
                 has_derived ? "; more than " : "; about ", bytes_of(cost.training_bytes),
                 " in training on one thread, besides data and states",
                 has_derived ? " and the derivation's intermediate values" : "");
}

bool is_large(const TrainingCost& cost) { return cost.training_bytes >= std::int64_t{1} << 30; }

}  // namespace lagtape
