#include "lagtape/tools/train/catalogue.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "lagtape/cells/build/read_initializer.h"
#include "lagtape/cells/models/loss_json.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/cells/registry.h"
#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/tasks/registry.h"
#include "lagtape/ops/kernels/element_functions.h"
#include "lagtape/optim/registry.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/score/metrics.h"
#include "lagtape/tools/train/train_options.h"

namespace lagtape {

namespace {

/// The options that a reader knows.
template <class Read>
std::vector<OptionDoc> options_of(const Read& read) {
  const Json nothing = Json::object();
  JsonErrors errors;
  JsonReader reader(nothing, "", errors);
  read(reader);
  return reader.documentation();
}

std::vector<CatalogueEntry> layer_rows(LayerEntries entries) {
  std::vector<CatalogueEntry> rows;
  for (const LayerEntry& entry : entries) {
    rows.push_back({std::string(entry.name), std::string(entry.summary), std::string(entry.source),
                    std::string(entry.equations), lagtape::options_of(entry)});
  }
  return rows;
}

std::vector<CatalogueEntry> initializer_rows() {
  std::vector<CatalogueEntry> rows;
  for (const InitializerEntry& entry : initializers()) {
    rows.push_back({std::string(entry.name), std::string(entry.summary), std::string(entry.source),
                    std::string(entry.formula), options_of([&](JsonReader& reader) { entry.read(reader); })});
  }
  return rows;
}

std::vector<CatalogueEntry> function_rows() {
  std::vector<CatalogueEntry> rows;
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function)
      rows.push_back({std::string(function.name), std::string(function.formula), "", "", {}});
  return rows;
}

std::vector<CatalogueEntry> all_layer_rows() {
  std::vector<CatalogueEntry> rows = layer_rows(per_step_layers());
  for (CatalogueEntry& row : layer_rows(sequence_layers())) rows.push_back(std::move(row));
  return rows;
}

std::vector<CatalogueEntry> task_rows() {
  std::vector<CatalogueEntry> rows;
  for (const TaskEntry* entry : tasks()) {
    rows.push_back({std::string(entry->name), std::string(entry->summary), std::string(entry->source),
                    std::string(entry->equations), options_of([&](JsonReader& reader) {
                      entry->read(reader, {.batch = TrainOptions{}.batch});
                    }),
                    std::string(entry->files)});
  }
  return rows;
}

std::vector<CatalogueEntry> loss_rows() {
  std::vector<CatalogueEntry> rows;
  for (const LossRow& entry : losses()) {
    rows.push_back({std::string(entry.name),
                    text_of(entry.summary, "; for ", targets_of(entry.loss),
                            "; metrics: ", listed(metric_names(entry.loss))),
                    "", "", options_of(entry.loss)});
  }
  return rows;
}

std::vector<CatalogueEntry> optimizer_rows() {
  std::vector<CatalogueEntry> rows;
  for (const OptimizerEntry& entry : optimizers()) {
    rows.push_back({std::string(entry.name), std::string(entry.summary), std::string(entry.source), "",
                    options_of(entry.read)});
  }
  return rows;
}

std::vector<CatalogueEntry> schedule_rows() {
  std::vector<CatalogueEntry> rows;
  for (const ScheduleEntry& entry : schedules()) {
    rows.push_back({std::string(entry.name), std::string(entry.summary), "", "", options_of(entry.read)});
  }
  return rows;
}

std::vector<CatalogueEntry> metric_rows() {
  std::vector<CatalogueEntry> rows;
  for (const MetricEntry& entry : metrics()) {
    const char* direction = !entry.ranks_models      ? "does not tell which model is best"
                            : entry.larger_is_better ? "larger is better"
                                                     : "smaller is better";
    rows.push_back({std::string(entry.name), text_of(entry.summary, "; ", direction), "", "", {}});
  }
  for (const ClassMetricEntry& entry : class_metrics())
    rows.push_back({text_of(entry.stem, "0"),
                    text_of(entry.summary, ", by its number: ", entry.stem, "0, ", entry.stem,
                            "1, ...; larger is better"),
                    "",
                    "",
                    {}});
  return rows;
}

std::vector<CatalogueEntry> train_rows() {
  const auto row = [](const char* name, const char* summary, bool fresh) {
    return CatalogueEntry{name, summary, "", "",
                          options_of([&](JsonReader& reader) { read_train_options(reader, fresh); })};
  };
  return {row("epochs", "`train` for a fixed training set, which is passed over in epochs", false),
          row("fresh", "`train` for \"fresh\" data: a training set that never ends", true)};
}

std::vector<CatalogueEntry> readout_rows() {
  return {{"readout", "an affine map of the top layer's output", "",
           "y = W @ h + W.bias\ntied: y = E @ h + W.bias, where E is the embedding's table",
           readout_options()}};
}

constexpr CatalogueKind kKinds[] = {{"cells", [] { return layer_rows(cells()); }},
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

}  // namespace

std::span<const CatalogueKind> catalogue() { return kKinds; }

std::vector<std::string> setting_paths() {
  constexpr std::pair<std::string_view, std::string_view> kSections[] = {{"tasks", "data."},
                                                                         {"cells", "model.layers.0."},
                                                                         {"layers", "model.layers.0."},
                                                                         {"readout", "model.readout."},
                                                                         {"losses", "loss."},
                                                                         {"optimizers", "optimizer."},
                                                                         {"schedules", "schedule."},
                                                                         {"training", "train."}};
  std::set<std::string> paths = {"name", "seed",    "data.task",      "model.layers.0.cell",
                                 "loss", "metrics", "optimizer.type", "schedule.type"};
  for (const auto& [name, section] : kSections)
    for (const CatalogueEntry& entry : std::ranges::find(kKinds, name, &CatalogueKind::name)->entries())
      for (const OptionDoc& option : entry.options) paths.insert(text_of(section, option.key));
  return {paths.begin(), paths.end()};
}

}  // namespace lagtape
