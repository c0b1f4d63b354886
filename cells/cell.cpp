#include "lagtape/cells/cell.h"

namespace lagtape {

std::int64_t Layer::parameter_count() const {
  std::int64_t count = 0;
  for (const ParameterDefinition& parameter : parameters) count += element_count(parameter.shape);
  return count;
}

std::vector<Var> Layer::step_weights(std::span<const Var> values) const {
  if (weights) return weights(values);
  std::vector<Var> found;
  for (const WeightDefinition& weight : program.weights) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].name == weight.name) found.push_back(values[i]);
  }
  return found;
}

}  // namespace lagtape
