#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "lagtape/cells/models/model_json.h"
#include "lagtape/cells/read_initializer.h"
#include "lagtape/cells/registry.h"
#include "lagtape/core/error.h"
#include "lagtape/data/registry.h"
#include "lagtape/ops/kernels/element_functions.h"
#include "lagtape/optim/registry.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/metrics.h"
#include "lagtape/tools/train/train_options.h"

namespace lagtape::cli {

namespace {

/// The texts of one entry of the list.
struct Row {
  std::string name, summary, source, equations;
  std::vector<OptionDoc> options;
  std::string files = {};
};

/// The options that a reader knows.
template <class Read>
std::vector<OptionDoc> options_of(const Read& read) {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  read(reader);
  return reader.documentation();
}

std::vector<Row> layer_rows(LayerEntries entries) {
  std::vector<Row> rows;
  for (const LayerEntry& entry : entries) {
    rows.push_back({std::string(entry.name), std::string(entry.summary), std::string(entry.source),
                    std::string(entry.equations), lagtape::options_of(entry)});
  }
  return rows;
}

std::vector<Row> initializer_rows() {
  std::vector<Row> rows;
  for (const InitializerEntry& entry : initializers()) {
    rows.push_back({std::string(entry.name), std::string(entry.summary), std::string(entry.source),
                    std::string(entry.formula), options_of([&](JsonReader& reader) { entry.read(reader); })});
  }
  return rows;
}

std::vector<Row> function_rows() {
  std::vector<Row> rows;
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function)
      rows.push_back({std::string(function.name), std::string(function.formula), "", "", {}});
  return rows;
}

std::vector<Row> all_layer_rows() {
  std::vector<Row> rows = layer_rows(per_step_layers());
  for (Row& row : layer_rows(sequence_layers())) rows.push_back(std::move(row));
  return rows;
}

std::vector<Row> task_rows() {
  std::vector<Row> rows;
  for (const TaskEntry* entry : tasks()) {
    rows.push_back({std::string(entry->name), std::string(entry->summary), std::string(entry->source),
                    std::string(entry->equations), options_of([&](JsonReader& reader) {
                      entry->read(reader, {.batch = TrainOptions{}.batch});
                    }),
                    std::string(entry->files)});
  }
  return rows;
}

std::vector<Row> loss_rows() {
  std::vector<Row> rows;
  for (const LossEntry& entry : losses()) {
    std::string names;
    for (const std::string& name : metric_names(entry.loss)) names += (names.empty() ? "" : ", ") + name;
    rows.push_back({std::string(entry.name),
                    fmt::format("{}; for {}; metrics: {}", entry.summary, entry.targets, names),
                    "",
                    "",
                    {}});
  }
  return rows;
}

std::vector<Row> optimizer_rows() {
  std::vector<Row> rows;
  for (const OptimizerEntry& entry : optimizers()) {
    rows.push_back({std::string(entry.name), std::string(entry.summary), std::string(entry.source), "",
                    options_of(entry.read)});
  }
  return rows;
}

std::vector<Row> schedule_rows() {
  std::vector<Row> rows;
  for (const ScheduleEntry& entry : schedules()) {
    rows.push_back({std::string(entry.name), std::string(entry.summary), "", "", options_of(entry.read)});
  }
  return rows;
}

std::vector<Row> metric_rows() {
  std::vector<Row> rows;
  for (const MetricEntry& entry : metrics()) {
    const char* direction = entry.larger_is_better ? "larger is better" : "smaller is better";
    rows.push_back({std::string(entry.name), fmt::format("{}; {}", entry.summary, direction), "", "", {}});
  }
  return rows;
}

std::vector<Row> train_rows() {
  const auto row = [](const char* name, const char* summary, bool fresh) {
    return Row{name, summary, "", "",
               options_of([&](JsonReader& reader) { read_train_options(reader, fresh); })};
  };
  return {row("epochs", "`train` for a fixed training set, which is passed over in epochs", false),
          row("fresh", "`train` for \"fresh\" data: a training set that never ends", true)};
}

std::vector<Row> readout_rows() {
  return {{"readout", "an affine map of the top layer's output", "",
           "y = W @ h + W.bias\ntied: y = E @ h + W.bias, where E is the embedding's table",
           readout_options()}};
}

struct Kind {
  const char* name;
  std::vector<Row> (*rows)();
  bool object = false;  ///< an object of the experiment instead of a list of names
};

constexpr Kind kKinds[] = {{"cells", [] { return layer_rows(cells()); }},
                           {"functions", function_rows},
                           {"layers", all_layer_rows},
                           {"readout", readout_rows, true},
                           {"initializers", initializer_rows},
                           {"tasks", task_rows},
                           {"losses", loss_rows},
                           {"metrics", metric_rows},
                           {"optimizers", optimizer_rows},
                           {"schedules", schedule_rows},
                           {"training", train_rows, true}};

void print_short(const Kind& kind) {
  fmt::print("{}\n", kind.name);
  for (const Row& row : kind.rows()) fmt::print("  {:<22}{}\n", row.name, row.summary);
}

/// Prints a text of several lines, indented.
void print_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) fmt::print("  {}\n", line);
}

void print_long(const Row& row) {
  fmt::print("{}: {}\n", row.name, row.summary);
  if (!row.source.empty()) fmt::print("source: {}\n", row.source);
  print_lines(row.equations);
  if (!row.files.empty()) fmt::print("files\n");
  print_lines(row.files);
  if (!row.options.empty()) fmt::print("options\n");
  std::size_t width = 13;
  for (const OptionDoc& option : row.options) width = std::max(width, option.key.size());
  for (const OptionDoc& option : row.options) {
    const std::string fallback = option.fallback.empty() ? "required" : "default " + option.fallback;
    fmt::print("  {:<{}} {} ({}, {})\n", option.key, width, option.about, option.type, fallback);
  }
}

struct ListArguments {
  std::string kind, name;
};

void add_options(Options& options, ListArguments& arguments) {
  options.add(
      "KIND", &arguments.kind,
      "cells, functions, layers, readout, initializers, tasks, losses, metrics, optimizers, schedules or "
      "training; by default all");
  options.add("NAME", &arguments.name, "one of them, to print its equations and options");
}

void run(const ListArguments& arguments) {
  if (arguments.kind.empty()) {
    for (const Kind& kind : kKinds) print_short(kind);
    return;
  }
  std::vector<std::string> kinds;
  for (const Kind& kind : kKinds) kinds.emplace_back(kind.name);
  const auto kind = std::find(kinds.begin(), kinds.end(), arguments.kind);
  if (kind == kinds.end()) throw InputError(unknown_name("kind", arguments.kind, kinds));
  const Kind& chosen = kKinds[kind - kinds.begin()];
  if (arguments.name.empty() && chosen.object) {
    for (const Row& row : chosen.rows()) print_long(row);
    return;
  }
  if (arguments.name.empty()) return print_short(chosen);
  std::vector<std::string> names;
  for (const Row& row : chosen.rows()) {
    if (row.name == arguments.name) return print_long(row);
    names.push_back(row.name);
  }
  if (chosen.object)
    throw InputError(text_of("'", chosen.name, "' has no names such as '", arguments.name, "'."));
  throw InputError(unknown_name(arguments.kind, arguments.name, names));
}

}  // namespace

Command list_command() {
  return make_command<ListArguments>(
      "list", "List the cells, tasks, losses and all else that an experiment may name", add_options, run);
}

}  // namespace lagtape::cli
