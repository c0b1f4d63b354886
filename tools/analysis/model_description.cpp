#include "lagtape/tools/analysis/model_description.h"

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model_op.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/plan_choice.h"

namespace lagtape {

namespace {

Json lags_of(const LayerSummary& layer) {
  Json lags = Json::object();
  for (const StepProgram& step : layer.steps)
    for (std::size_t i = 0; i < step.states.size(); ++i)
      lags[step.states[i].name] = step.history(static_cast<int>(i));
  return lags;
}

std::string program_of(const LayerSummary& layer) {
  std::string text;
  for (const StepProgram& step : layer.steps) {
    if (!text.empty()) text += '\n';
    text += to_string(step);
  }
  return text;
}

Json layers_of(const Model& model) {
  Json layers = Json::array();
  for (const LayerSummary& layer : model.layers())
    layers.push_back({{"name", layer.name},
                      {"params", layer.params},
                      {"flops_per_step", layer.product_flops()},
                      {"largest_lag", layer.largest_lag()},
                      {"lags", lags_of(layer)},
                      {"program", program_of(layer)}});
  return layers;
}

/// The value of a scalar, or what it starts from where the model was not drawn.
double scalar_of(const Source& source, const ParameterDefinition& definition) {
  const Model& model = source.model;
  const bool has_value = source.has_values;
  return has_value ? model.parameters()[definition.name].value.item()
                   : first_value(definition, model.dtype(), source.experiment.seed).item();
}

Json parameters_of(const Source& source) {
  Json parameters = Json::array();
  for (const ParameterDefinition& parameter : source.model.fitted().parameters()) {
    Json row = {{"name", parameter.name}, {"shape", parameter.shape}};
    if (parameter.shape.empty()) row["value"] = scalar_of(source, parameter);
    if (!parameter.unit.empty()) row["unit"] = parameter.unit;
    parameters.push_back(std::move(row));
  }
  return parameters;
}

Json plan_of(const PlanCost& plan) {
  return {{"name", name_of(plan.plan)},
          {"bytes", plan.bytes},
          {"extra_flops", plan.extra_flops},
          {"chunk", plan.chunk}};
}

/// The memory plan of each sequence op.
Json ops_of(const ModelOp& op, std::int64_t batch, std::int64_t steps, int threads) {
  Json ops = Json::array();
  for (const PlanCost& cost : op.choose_each(batch, steps, threads)) ops.push_back(plan_of(cost));
  return ops;
}

/// Adds the costs of the memory plans for a batch of the data.
void add_plans(Json& result, const Source& source, const DataShape& data, int threads) {
  const Experiment& experiment = source.experiment;
  const TrainOptions& train = experiment.train;
  const ModelOp op = model_op(experiment, source.model);
  const std::int64_t steps = steps_at_once(experiment, data);
  result["batch"] = train.batch;
  result["steps"] = steps;
  result["threads"] = threads;
  result["plans"] = Json::array();
  for (const PlanCost& plan : op.plans(train.batch, steps, threads)) result["plans"].push_back(plan_of(plan));
  result["plan"] = name_of(choose_plan(experiment, op, train.batch, steps, threads).plan);
  if (Json ops = ops_of(op, train.batch, steps, threads); ops.size() > 1) result["sequence_ops"] = ops;
}

}  // namespace

Json memory_of(const TrainingCost& cost) {
  return {{"parameter_bytes", cost.parameter_bytes},
          {"derived_bytes", cost.derived_bytes},
          {"training_bytes", cost.training_bytes}};
}

Json describe(const Source& source, const std::optional<DataShape>& data, int threads) {
  Json result = {{"name", source.experiment.name},
                 {"params", source.model.parameters().count()},
                 {"layers", layers_of(source.model)},
                 {"parameters", parameters_of(source)}};
  double flops = 0;
  for (const Json& layer : result["layers"]) flops += layer["flops_per_step"].get<double>();
  result["flops_per_step"] = flops;
  if (data) result["memory"] = memory_of(training_cost(source.experiment, source.model));
  if (data) add_plans(result, source, *data, threads);
  const std::string obstacle = obstacle_to_reversing(source.model);
  result["runs_backwards"] = obstacle.empty();
  if (!obstacle.empty()) result["runs_backwards_obstacle"] = obstacle;
  result["experiment"] = document_of(source.experiment);
  return result;
}

}  // namespace lagtape
