#include <fmt/core.h>

#include <optional>
#include <tuple>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/analysis/model_description.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/forecast/recording_model.h"
#include "lagtape/tools/forecast/step_names_of.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/train/training_cost.h"
#include "lagtape/tools/train/warnings.h"

namespace lagtape::cli {

namespace {

struct InspectArguments {
  ExperimentArguments experiment;
  int threads = 1;
  bool series = false, json = false;
};

void add_options(Options& options, InspectArguments& arguments) {
  arguments.experiment.add_to(options, "experiment file (JSON), run folder or weights file");
  add_threads(options, arguments.threads);
  options.add("--series", &arguments.series,
              "for a run: mean and scale of inputs and targets of each series that the model knows");
  options.add("--json", &arguments.json, "print the result as one JSON object");
}

std::string string_of(const Json& value) { return value.get<std::string>(); }

/// The value of a scalar with its unit, else the shape.
std::string value_or_shape(const Json& parameter) {
  if (!parameter.contains("value")) return parameter["shape"].dump();
  const std::string unit = parameter.value("unit", "");
  return text_of("[]  ", parameter["value"].get<double>(), unit.empty() ? "" : " ", unit);
}

void print_parameters(const Json& parameters) {
  print("\nparameters\n");
  for (const Json& parameter : parameters)
    print("  {:<24}{}\n", string_of(parameter["name"]), value_or_shape(parameter));
}

void print_layers(const Json& layers) {
  print("{:<16}{:>12}{:>16}{:>12}\n", "layer", "parameters", "FLOPs per step", "largest lag");
  for (const Json& layer : layers) {
    print("{:<16}{:>12}{:>16}{:>12}\n", string_of(layer["name"]), layer["params"].get<std::int64_t>(),
          layer["flops_per_step"].get<std::int64_t>(), layer["largest_lag"].get<std::int64_t>());
  }
  for (const Json& layer : layers)
    if (!string_of(layer["program"]).empty())
      print("\nstep of {}\n{}", string_of(layer["name"]), string_of(layer["program"]));
}

void print_plans(const Json& description) {
  if (!description.contains("plans")) return;
  print("\nmemory plans for batch {}, {} steps, {} thread(s)\n", description["batch"].get<std::int64_t>(),
        description["steps"].get<std::int64_t>(), description["threads"].get<int>());
  for (const Json& plan : description["plans"]) {
    print("  {:<12}{:>12}  {:.3g} extra FLOPs a batch{}\n", string_of(plan["name"]),
          bytes_of(plan["bytes"].get<std::int64_t>()), plan["extra_flops"].get<double>(),
          plan["name"] == description["plan"] ? "  (chosen)" : "");
  }
  if (description.contains("sequence_ops")) {
    const Json& ops = description["sequence_ops"];
    for (std::size_t i = 0; i < ops.size(); ++i)
      print("  sequence op {}: {} with {}\n", i, string_of(ops[i]["name"]),
            bytes_of(ops[i]["bytes"].get<std::int64_t>()));
  }
}

void print_direction(const Json& description) {
  if (description["runs_backwards"].get<bool>()) {
    print("runs backwards: yes\n");
  } else {
    print("runs backwards: no ({})\n", string_of(description["runs_backwards_obstacle"]));
  }
}

/// The mean and scale of each number by its name, or by its place where there is no name for each.
Json scales_of(const Scaling& scaling, const std::vector<std::string>& names) {
  Json scales = Json::object();
  for (std::size_t i = 0; i < scaling.mean.size(); ++i)
    scales[names.size() == scaling.mean.size() ? names[i] : text_of(i)] = {{"mean", scaling.mean[i]},
                                                                           {"scale", scaling.scale[i]}};
  return scales;
}

/// By series, or for all where the model has one scaling for them.
Json series_scales(const Source& source) {
  const std::vector<std::string> inputs = input_names_of(source.model),
                                 targets = target_names(source.experiment);
  SeriesNormalizations series = series_of_data(source.model);
  if (series.empty()) series.emplace("all", normalization_of_data(source.model));
  Json scales = Json::object();
  for (const auto& [name, normalization] : series)
    scales[name] = {{"inputs", scales_of(normalization.input, inputs)},
                    {"targets", scales_of(normalization.output, targets)}};
  return scales;
}

void print_series(const Json& series) {
  for (const auto& [name, scales] : series.items()) {
    print("{}\n", name);
    for (const auto& [kind, numbers] : scales.items())
      for (const auto& [of, scale] : numbers.items())
        print("  {:<9}{:<24}  mean {:<12.6g}  scale {:.6g}\n", kind, of, scale["mean"].get<double>(),
              scale["scale"].get<double>());
  }
}

/// The numbers of a step in their order, those of the inputs that are no columns with their formulas.
void describe_step(const StepNames& names, Json& description) {
  if (!names.inputs.empty()) description["inputs"] = names.inputs;
  for (std::size_t i = 0; i < names.meanings.size(); ++i)
    if (!names.meanings[i].empty()) description["meanings"][names.inputs[i]] = names.meanings[i];
  if (!names.outputs.empty()) description["outputs"] = names.outputs;
  if (!names.calendar.empty()) description["clock"] = names.clock;
}

void print_step(const StepNames& names) {
  const auto& [inputs, outputs] = std::tie(names.inputs, names.outputs);
  if (!inputs.empty()) print("\ninputs of a step: {}\n", listed(inputs, inputs.size()));
  for (std::size_t i = 0; i < names.meanings.size(); ++i)
    if (!names.meanings[i].empty()) print("  {}\n", names.described_input(i));
  if (const std::string note = names.note_of_inputs(); !note.empty()) print("  {}\n", note);
  if (!outputs.empty()) print("outputs of a step: {}\n", listed(outputs, outputs.size()));
}

void run(const InspectArguments& arguments) {
  ThreadPool pool(arguments.threads);
  const std::string& file = arguments.experiment.file;
  if (is_run(file)) refuse_row(file, arguments.experiment.row);
  if (is_run(file) && !arguments.experiment.set.empty()) {
    throw InputError({file}, Rule::not_supported, "--set cannot change a trained model", {},
                     "Inspect its experiment instead.");
  }
  if (arguments.series && !is_run(file))
    throw InputError({.item = "--series"}, Rule::not_supported,
                     "is for a run: an experiment knows no series yet.");
  const Source source = is_run(file) ? load_run(file) : undrawn(arguments.experiment.read(), pool);
  std::optional<DataShape> data;
  if (source.has_data) data = data_shape(source.experiment, pool);
  Json description = describe(source, data, arguments.threads);
  const StepNames names = step_names_of(source.model);
  describe_step(names, description);
  if (arguments.series) description["series"] = series_scales(source);
  if (data) warn(lag_warnings(source.model, *data));
  if (arguments.json) {
    print("{}\n", description.dump(2));
    return;
  }
  if (arguments.series) return print_series(description["series"]);
  print("{}: {} parameters\n\n", source.experiment.name, source.model.parameters().count());
  print_layers(description["layers"]);
  print_step(names);
  if (const std::size_t series = source.model.series().size(); series > 0)
    print("\n{} series are known, each scaled by itself: --series shows them\n", series);
  if (data) print("\nmemory: {}\n", text_of_cost(training_cost(source.experiment, source.model)));
  print_parameters(description["parameters"]);
  print_plans(description);
  print_direction(description);
  print("\nexperiment\n{}\n", source.experiment.json());
}

}  // namespace

Command inspect_command() {
  return make_command<InspectArguments>(
      "inspect", "Describe a model: layers, equations, memory plans, and the experiment with all defaults",
      add_options, run,
      {{"lagtape inspect load.json", "layers, parameters, plans, defaults"},
       {"lagtape inspect runs/load-0 --json", "the same for scripts"}});
}

}  // namespace lagtape::cli
