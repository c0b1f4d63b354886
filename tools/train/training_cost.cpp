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

/// The numbers of a layer's weights that are no parameters.
std::int64_t derived_numbers(const Layer& layer) {
  if (layer.whole) return 0;
  std::set<std::string> parameters;
  for (const ParameterDefinition& parameter : layer.parameters) parameters.insert(parameter.name);
  std::int64_t numbers = 0;
  for (const WeightDefinition& weight : layer.program.weights)
    if (!parameters.contains(weight.name)) numbers += element_count(weight.shape);
  return numbers;
}

}  // namespace

TrainingCost training_cost(const Experiment& experiment, const Model& model) {
  TrainingCost cost{.parameters = model.parameters().count()};
  for (const Parameter& parameter : model.parameters()) cost.parameter_bytes += bytes_in(parameter.value);
  for (const Layer& layer : model.fitted().layers)
    cost.derived_bytes += derived_numbers(layer) * static_cast<std::int64_t>(byte_size(model.dtype()));
  cost.training_bytes = 3 * cost.parameter_bytes + 2 * cost.derived_bytes;
  for (const NamedTensor& state : experiment.make_optimizer(model.parameters())->state())
    cost.training_bytes += bytes_in(state.tensor);
  return cost;
}

std::string text_of_cost(const TrainingCost& cost) {
  const std::string derived =
      cost.derived_bytes > 0 ? text_of(", ", bytes_of(cost.derived_bytes), " of weights derived from them")
                             : "";
  return text_of("the parameters ", bytes_of(cost.parameter_bytes), derived, "; about ",
                 bytes_of(cost.training_bytes), " in training, besides data and states");
}

bool is_large(const TrainingCost& cost) { return cost.training_bytes >= std::int64_t{1} << 30; }

}  // namespace lagtape
