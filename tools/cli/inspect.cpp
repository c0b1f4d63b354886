#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/grid.h"
#include "lagtape/tools/cli/commands.h"
#include "lagtape/tools/cli/format.h"
#include "lagtape/tools/cli/source.h"

namespace lagtape::cli {

namespace {

using Json = nlohmann::ordered_json;

struct InspectArguments {
  ExperimentArguments experiment;
  int threads = 1;
  bool json = false;
};

void add_options(CLI::App& command, InspectArguments& arguments) {
  arguments.experiment.add_to(command, "experiment file (JSON), run folder or weights file");
  add_threads(command, arguments.threads);
  command.add_flag("--json", arguments.json, "the result as one JSON object");
}

Json lags_of(const StepProgram& program) {
  Json lags = Json::object();
  for (std::size_t i = 0; i < program.states.size(); ++i)
    lags[program.states[i].name] = program.history(static_cast<int>(i));
  return lags;
}

Json layer_of(const std::string& name, const StepProgram& program, std::int64_t params) {
  return {{"name", name},
          {"params", params},
          {"flops_per_step", program.product_flops()},
          {"largest_lag", program.largest_lag()},
          {"lags", lags_of(program)},
          {"program", to_string(program)}};
}

Json layers_of(const Model& model) {
  const std::vector<std::string> names = model.layer_names();
  const std::vector<std::int64_t> params = model.layer_parameter_counts();
  const StackDefinition& stack = model.stack();
  Json layers = Json::array();
  for (std::size_t i = 0; i < stack.layers.size(); ++i)
    layers.push_back(layer_of(names[i], stack.layers[i], params[i]));
  if (stack.readout) layers.push_back(layer_of("readout", *stack.readout, params.back()));
  return layers;
}

Json plan_of(const PlanCost& plan) {
  return {{"name", name_of(plan.plan)},
          {"bytes", plan.bytes},
          {"extra_flops", plan.extra_flops},
          {"chunk", plan.chunk}};
}

/// Why the stack does not run backwards in time; empty when it does.
std::string obstacle_of(const StackDefinition& stack) {
  for (std::size_t l = 0; l < stack.layers.size(); ++l)
    if (const UndoOrder order = undo_order(stack.layers[l]); !order.obstacle.empty())
      return concat("layer ", l, ": ", order.obstacle);
  return {};
}

Json describe(const Source& source, const DataShape& data, int threads) {
  const Experiment& experiment = source.experiment;
  const TrainOptions& train = experiment.train;
  const SequenceOp op(source.model.stack(), source.model.dtype(),
                      {.plan = train.plan, .budget = train.budget});
  const std::int64_t steps = train.truncate > 0 ? std::min(train.truncate, data.length) : data.length;
  Json result = {{"name", experiment.name},
                 {"params", source.model.parameters().count()},
                 {"layers", layers_of(source.model)}};
  double flops = 0;
  for (const Json& layer : result["layers"]) flops += layer["flops_per_step"].get<double>();
  result["flops_per_step"] = flops;
  result["batch"] = train.batch;
  result["steps"] = steps;
  result["threads"] = threads;
  result["plans"] = Json::array();
  for (const PlanCost& plan : op.plans(train.batch, steps, threads)) result["plans"].push_back(plan_of(plan));
  result["plan"] = name_of(op.choose(train.batch, steps, threads).plan);
  const std::string obstacle = obstacle_of(source.model.stack());
  result["runs_backwards"] = obstacle.empty();
  if (!obstacle.empty()) result["runs_backwards_obstacle"] = obstacle;
  result["experiment"] = Json::parse(experiment.json);
  return result;
}

std::string text_of(const Json& value) { return value.get<std::string>(); }

void print_layers(const Json& layers) {
  fmt::print("{:<16}{:>12}{:>16}{:>12}\n", "layer", "parameters", "FLOPs a step", "largest lag");
  for (const Json& layer : layers) {
    fmt::print("{:<16}{:>12}{:>16}{:>12}\n", text_of(layer["name"]), layer["params"].get<std::int64_t>(),
               layer["flops_per_step"].get<std::int64_t>(), layer["largest_lag"].get<std::int64_t>());
  }
  for (const Json& layer : layers)
    fmt::print("\nstep of {}\n{}", text_of(layer["name"]), text_of(layer["program"]));
}

void print_plans(const Json& description) {
  fmt::print("\nmemory plans for batch {}, {} steps, {} thread(s)\n",
             description["batch"].get<std::int64_t>(), description["steps"].get<std::int64_t>(),
             description["threads"].get<int>());
  for (const Json& plan : description["plans"]) {
    fmt::print("  {:<12}{:>12}  {:.3g} extra FLOPs a batch{}\n", text_of(plan["name"]),
               bytes_of(plan["bytes"].get<std::int64_t>()), plan["extra_flops"].get<double>(),
               plan["name"] == description["plan"] ? "  (chosen)" : "");
  }
  if (description["runs_backwards"].get<bool>()) {
    fmt::print("runs backwards: yes\n");
  } else {
    fmt::print("runs backwards: no ({})\n", text_of(description["runs_backwards_obstacle"]));
  }
}

void run(const InspectArguments& arguments) {
  ThreadPool pool(arguments.threads);
  const std::string& file = arguments.experiment.file;
  if (is_run(file) && !arguments.experiment.set.empty()) {
    throw InputError(
        concat(file, ": what was trained cannot be changed with --set. Inspect the experiment."));
  }
  const Source source = load_source(file, arguments.experiment.set, pool);
  const DataShape data = data_shape(source.experiment, pool);
  const Json description = describe(source, data, arguments.threads);
  warn_of_lags(source.model, data);
  if (arguments.json) {
    fmt::print("{}\n", description.dump(2));
    return;
  }
  fmt::print("{}: {} parameters\n\n", source.experiment.name, source.model.parameters().count());
  print_layers(description["layers"]);
  print_plans(description);
  fmt::print("\nexperiment\n{}\n", source.experiment.json);
}

}  // namespace

void add_inspect(CLI::App& tool) {
  add_command<InspectArguments>(tool, "inspect",
                                "Describe a model: layers, steps, memory plans, the experiment in full",
                                add_options, run);
}

}  // namespace lagtape::cli
