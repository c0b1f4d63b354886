#include "lagtape/cells/models/tangent_layer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/recurrence/derive/tangent.h"

namespace lagtape {
namespace {

using Kind = TangentWeight::Kind;

/// The step's weights and their derivatives; a default Var is 0.
struct MovingWeights {
  std::vector<Var> weights, changes;
};

MovingWeights moving_weights(const Layer& layer, std::span<const Var> values) {
  std::vector<Var> own, directions;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    own.push_back(values[i]);
    directions.push_back(values[i + 1]);
  }
  MovingWeights moving{layer.step_weights(own), {}};
  if (!own.empty()) moving.changes = own.front().tape().tangents(moving.weights, own, directions);
  return moving;
}

Var weight_of(const TangentWeight& source, const MovingWeights& moving) {
  const Var& weight = moving.weights[source.weight];
  if (source.kind == Kind::same) return weight;
  const bool is_change = source.kind == Kind::direction || source.kind == Kind::lag_change;
  const Var& change = moving.changes[source.weight];
  if (is_change && !change.is_of_tape())
    return weight.tape().constant(Tensor(weight.shape(), weight.dtype()));
  if (source.kind == Kind::direction) return change;
  // The factor of a lag's change is 0 if the lag is clamped, else 1; its whole steps have no derivative.
  std::vector<Tensor> weights, ones;
  for (const Var& each : moving.weights) {
    weights.push_back(each.value());
    ones.push_back(Tensor::full(each.shape(), each.dtype(), 1));
  }
  TangentWeight of_one_direction = source;
  of_one_direction.direction = 0;
  const std::vector<std::vector<Tensor>> changes = {std::move(ones)};
  const Var fixed = weight.tape().constant(tangent_weight(of_one_direction, weights, changes));
  return is_change ? fixed * change : fixed;
}

}  // namespace

Layer tangent_layer(const Layer& layer) {
  const std::size_t count = layer.program.weights.size();
  std::vector<std::vector<bool>> changes(std::max<std::size_t>(count, 1), std::vector<bool>(1, true));
  TangentProgram tangent = tangent_of(layer.program, changes, {.input = true, .initial = true});
  Layer result;
  result.program = std::move(tangent.program);
  for (const ParameterDefinition& parameter : layer.parameters) {
    result.parameters.push_back(parameter);
    result.parameters.push_back(parameter);
    result.parameters.back().name = "d " + parameter.name;
    result.parameters.back().bounds = {};
  }
  result.weights = [layer, sources = std::move(tangent.weights)](std::span<const Var> values) {
    const MovingWeights moving = moving_weights(layer, values);
    std::vector<Var> weights;
    for (const TangentWeight& source : sources) weights.push_back(weight_of(source, moving));
    return weights;
  };
  return result;
}

}  // namespace lagtape
