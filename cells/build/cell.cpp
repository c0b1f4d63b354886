#include "lagtape/cells/build/cell.h"

#include <algorithm>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw Error(text_of("[weights] there is no parameter '", name, "'."));
  return found - names.begin();
}

}  // namespace

std::int64_t Layer::parameter_count() const {
  std::int64_t count = 0;
  for (const ParameterDefinition& parameter : parameters)
    if (parameter.trainable) count += element_count(parameter.shape);
  return count;
}

RowShape Layer::output() const {
  if (whole) return RowShape::vector(whole->output_width());
  return program.values[static_cast<std::size_t>(program.output)].shape;
}

std::size_t Layer::weight_count() const {
  if (!whole) return program.weights.size();
  const std::vector<StackDefinition> ops = whole->ops();
  if (ops.empty()) return parameters.size();
  std::size_t count = 0;
  for (const StackDefinition& op : ops)
    for (const StepProgram& layer : op.layers) count += layer.weights.size();
  return count;
}

std::vector<Var> Layer::step_weights(std::span<const Var> values) const {
  if (whole) return whole->weights(values);
  if (weights) return weights(values);
  std::vector<Var> found;
  for (const WeightDefinition& weight : program.weights) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].name == weight.name) found.push_back(values[i]);
  }
  return found;
}

std::function<std::vector<Var>(std::span<const Var>)> weights_with(
    const StepProgram& program, const std::vector<ParameterDefinition>& parameters,
    const std::vector<DerivedWeight>& derived) {
  struct Rule {
    std::vector<std::size_t> of;
    std::function<Var(std::span<const Var>)> value;
  };
  std::vector<std::string> names;
  for (const ParameterDefinition& parameter : parameters) names.push_back(parameter.name);
  std::vector<Rule> rules;
  for (const DerivedWeight& weight : derived) {
    rules.push_back({{}, weight.value});
    for (const std::string& name : weight.of) rules.back().of.push_back(place_of(names, name));
    names.push_back(weight.name);
  }
  std::vector<std::size_t> wanted;
  for (const WeightDefinition& weight : program.weights) wanted.push_back(place_of(names, weight.name));

  return [rules, wanted](std::span<const Var> values) {
    std::vector<Var> all(values.begin(), values.end());
    for (const Rule& rule : rules) {
      std::vector<Var> of;
      for (const std::size_t i : rule.of) of.push_back(all[i]);
      all.push_back(rule.value(of));
    }
    std::vector<Var> weights;
    for (const std::size_t i : wanted) weights.push_back(all[i]);
    return weights;
  };
}

}  // namespace lagtape
