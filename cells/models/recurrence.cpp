#include "lagtape/cells/models/recurrence.h"

#include <algorithm>
#include <utility>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/tangent_layer.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {
namespace {

FittedModel fitted_layers(const ModelDefinition& definition, std::int64_t input) {
  JsonErrors errors;
  FittedModel fitted = fit_layers(definition, {.input = input, .tokens = 0}, errors);
  for (std::size_t l = 0; l < fitted.layers.size(); ++l)
    if (fitted.layers[l].whole)
      errors.add("/model/layers", text_of("'", fitted.names[l],
                                          "' takes whole sequences, all rows at a time, and is no part of a "
                                          "recurrence of steps. Leave it to the program around."));
  errors.raise("recurrence");
  return fitted;
}

StackDefinition stack_of(const std::vector<Layer>& layers, ReadAt at, ProductFormat products) {
  StackDefinition stack;
  for (const Layer& layer : layers) stack.layers.push_back(layer.program);
  stack.at = at;
  stack.products = products;
  return stack;
}

}  // namespace

struct Recurrence::Fitted {
  FittedModel model;
  ReadAt at;
};

Recurrence Recurrence::tangent() const {
  FittedModel model;
  model.definition = definition_;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    model.prefixes.push_back(text_of("layers.", l, "."));
    model.layers.push_back(tangent_layer(layers_[l]));
  }
  SequenceSettings settings = settings_;
  if (settings.plan == MemoryPlan::reversible) settings.plan = MemoryPlan::automatic;
  return Recurrence(Fitted{std::move(model), stack().at}, settings);
}

Recurrence::Recurrence(const ModelDefinition& definition, std::int64_t input, ReadAt at,
                       const SequenceSettings& settings)
    : Recurrence(Fitted{fitted_layers(definition, input), at}, settings) {}

Recurrence::Recurrence(Fitted fitted, const SequenceSettings& settings)
    : definition_(fitted.model.definition),
      layers_(fitted.model.layers),
      parameters_(fitted.model.parameters()),
      held_(stack_of(layers_, fitted.at, definition_.precision.products()), definition_.precision, settings),
      settings_(settings) {}

std::vector<Tensor> Recurrence::first_values(std::uint64_t seed) const {
  std::vector<Tensor> values;
  for (const ParameterDefinition& definition : parameters_)
    values.push_back(first_value(definition, dtype(), seed));
  return values;
}

bool Recurrence::has_draws() const {
  return std::ranges::any_of(stack().layers, [](const StepProgram& step) { return !step.draws.empty(); });
}

std::vector<PlanCost> Recurrence::plans(std::int64_t batch, std::int64_t steps, int threads) const {
  return held_.plans(batch, steps, threads);
}

/// The weights of the steps as functions of the parameters, which become leaves.
std::vector<Var> Recurrence::record_weights(Tape& tape, std::span<const Tensor> values,
                                            std::vector<Var>& leaves) const {
  if (values.size() != parameters_.size())
    throw unexpected({.op = "recurrence"}, Rule::shape, text_of(parameters_.size(), " parameters"),
                     text_of(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ParameterDefinition& p = parameters_[i];
    if (!values[i].is(dtype(), p.shape))
      throw wrong_tensor({.item = p.name, .op = "recurrence"}, dtype(), p.shape, values[i]);
    leaves.push_back(p.trainable ? tape.variable(values[i]) : tape.constant(values[i]));
  }
  std::vector<Var> weights;
  std::span<const Var> rest = leaves;
  for (const Layer& layer : layers_) {
    std::ranges::copy(layer.step_weights(rest.first(layer.parameters.size())), std::back_inserter(weights));
    rest = rest.subspan(layer.parameters.size());
  }
  return weights;
}

Recurrence::Outputs Recurrence::forward(std::span<const Tensor> parameters, SequenceBatch batch,
                                        ThreadPool& pool, std::vector<Tensor> initial, WantedGradients wanted,
                                        std::vector<std::uint8_t> resets) const {
  auto tape = std::make_unique<Tape>();
  std::vector<Var> leaves;
  std::vector<Var> weights = record_weights(*tape, parameters, leaves);
  std::vector<Tensor> values;
  for (const Var& weight : weights) values.push_back(weight.value());
  HeldOutputs sequence =
      held_.forward(std::move(values), std::move(batch), pool, std::move(initial), wanted, std::move(resets));
  return {std::move(tape), std::move(leaves), std::move(weights), std::move(sequence)};
}

Tensor Recurrence::evaluate(std::span<const Tensor> parameters, const SequenceBatch& batch, ThreadPool& pool,
                            const std::vector<Tensor>& initial, Window& final_window,
                            std::span<const std::uint8_t> resets) const {
  Tape tape;
  std::vector<Var> leaves;
  std::vector<Tensor> values;
  for (const Var& weight : record_weights(tape, parameters, leaves)) values.push_back(weight.value());
  return held_.evaluate(values, batch, pool, initial, final_window, resets);
}

Recurrence::Outputs::Outputs(std::unique_ptr<Tape> tape, std::vector<Var> leaves, std::vector<Var> weights,
                             HeldOutputs sequence)
    : tape_(std::move(tape)),
      leaves_(std::move(leaves)),
      weights_(std::move(weights)),
      sequence_(std::move(sequence)) {}

Recurrence::Outputs::Gradients Recurrence::Outputs::backward(const Tensor& output_gradient,
                                                             const std::vector<Tensor>& final_gradient) {
  SequenceGradients from_steps = sequence_.backward(output_gradient, final_gradient);
  Gradients gradients;
  gradients.x = std::move(from_steps.x);
  gradients.initial = std::move(from_steps.initial);
  if (from_steps.weights.empty()) return gradients;
  // One node for all weights, so the tape runs backward once.
  const Tape::Mark before = tape_->mark();
  const Var all = tape_->record(Tensor::scalar(0, weights_.front().dtype()), weights_,
                                [&](const Tensor&, InputGradients& to) {
                                  for (std::size_t i = 0; i < weights_.size(); ++i)
                                    to.add(static_cast<int>(i), from_steps.weights[i]);
                                });
  tape_->backward(all);
  for (const Var& leaf : leaves_)
    gradients.parameters.push_back(leaf.requires_grad() ? leaf.grad() : Tensor());
  tape_->rewind(before);
  return gradients;
}

}  // namespace lagtape
