#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/source.h"
#include "lagtape/tools/train/plan_choice.h"

namespace lagtape::cli {

namespace {

struct InspectArguments {
  ExperimentArguments experiment;
  int threads = 1;
  bool json = false;
};

void add_options(Options& options, InspectArguments& arguments) {
  arguments.experiment.add_to(options, "experiment file (JSON), run folder or weights file");
  add_threads(options, arguments.threads);
  options.add("--json", &arguments.json, "print the result as one JSON object");
}

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

Json parameters_of(const Model& model) {
  Json parameters = Json::array();
  for (const Parameter& parameter : model.parameters())
    parameters.push_back({{"name", parameter.name}, {"shape", parameter.value.shape()}});
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

/// Describes a model. Without data, which a model made in C++ does not name, there are no plans.
Json describe(const Source& source, const std::optional<DataShape>& data, int threads) {
  Json result = {{"name", source.experiment.name},
                 {"params", source.model.parameters().count()},
                 {"layers", layers_of(source.model)},
                 {"parameters", parameters_of(source.model)}};
  double flops = 0;
  for (const Json& layer : result["layers"]) flops += layer["flops_per_step"].get<double>();
  result["flops_per_step"] = flops;
  if (data) add_plans(result, source, *data, threads);
  const std::string obstacle = obstacle_to_reversing(source.model);
  result["runs_backwards"] = obstacle.empty();
  if (!obstacle.empty()) result["runs_backwards_obstacle"] = obstacle;
  result["experiment"] = Json::parse(source.experiment.json);
  return result;
}

std::string string_of(const Json& value) { return value.get<std::string>(); }

void print_parameters(const Json& parameters) {
  fmt::print("\nparameters\n");
  for (const Json& parameter : parameters)
    fmt::print("  {:<24}{}\n", string_of(parameter["name"]), parameter["shape"].dump());
}

void print_layers(const Json& layers) {
  fmt::print("{:<16}{:>12}{:>16}{:>12}\n", "layer", "parameters", "FLOPs a step", "largest lag");
  for (const Json& layer : layers) {
    fmt::print("{:<16}{:>12}{:>16}{:>12}\n", string_of(layer["name"]), layer["params"].get<std::int64_t>(),
               layer["flops_per_step"].get<std::int64_t>(), layer["largest_lag"].get<std::int64_t>());
  }
  for (const Json& layer : layers)
    if (!string_of(layer["program"]).empty())
      fmt::print("\nstep of {}\n{}", string_of(layer["name"]), string_of(layer["program"]));
}

void print_plans(const Json& description) {
  if (!description.contains("plans")) return;
  fmt::print("\nmemory plans for batch {}, {} steps, {} thread(s)\n",
             description["batch"].get<std::int64_t>(), description["steps"].get<std::int64_t>(),
             description["threads"].get<int>());
  for (const Json& plan : description["plans"]) {
    fmt::print("  {:<12}{:>12}  {:.3g} extra FLOPs a batch{}\n", string_of(plan["name"]),
               bytes_of(plan["bytes"].get<std::int64_t>()), plan["extra_flops"].get<double>(),
               plan["name"] == description["plan"] ? "  (chosen)" : "");
  }
  if (description.contains("sequence_ops")) {
    const Json& ops = description["sequence_ops"];
    for (std::size_t i = 0; i < ops.size(); ++i)
      fmt::print("  sequence op {}: {} with {}\n", i, string_of(ops[i]["name"]),
                 bytes_of(ops[i]["bytes"].get<std::int64_t>()));
  }
}

void print_direction(const Json& description) {
  if (description["runs_backwards"].get<bool>()) {
    fmt::print("runs backwards: yes\n");
  } else {
    fmt::print("runs backwards: no ({})\n", string_of(description["runs_backwards_obstacle"]));
  }
}

void run(const InspectArguments& arguments) {
  ThreadPool pool(arguments.threads);
  const std::string& file = arguments.experiment.file;
  if (is_run(file) && !arguments.experiment.set.empty()) {
    throw InputError(text_of(file, ": --set cannot change a trained model. Inspect its experiment instead."));
  }
  const Source source = load_source(file, arguments.experiment.set, pool);
  std::optional<DataShape> data;
  if (source.has_data) data = data_shape(source.experiment, pool);
  const Json description = describe(source, data, arguments.threads);
  if (data) warn_of_lags(source.model, *data);
  if (arguments.json) {
    fmt::print("{}\n", description.dump(2));
    return;
  }
  fmt::print("{}: {} parameters\n\n", source.experiment.name, source.model.parameters().count());
  print_layers(description["layers"]);
  print_parameters(description["parameters"]);
  print_plans(description);
  print_direction(description);
  fmt::print("\nexperiment\n{}\n", source.experiment.json);
}

}  // namespace

Command inspect_command() {
  return make_command<InspectArguments>(
      "inspect", "Describe a model: layers, equations, memory plans, and the experiment with all defaults",
      add_options, run);
}

}  // namespace lagtape::cli
