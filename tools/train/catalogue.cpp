#include "lagtape/tools/train/catalogue.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "lagtape/cells/build/read_initializer.h"
#include "lagtape/cells/models/loss_json.h"
#include "lagtape/cells/models/model_json.h"
#include "lagtape/cells/registry.h"
#include "lagtape/core/error.h"
#include "lagtape/core/json/options.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/tasks/registry.h"
#include "lagtape/ops/kernels/element_functions.h"
#include "lagtape/optim/registry.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/score/metrics.h"
#include "lagtape/tools/train/train_options.h"

namespace lagtape {

namespace {

std::vector<OptionDoc> options_of(const TaskEntry& entry) {
  return documented([&](JsonReader& reader) { entry.read(reader, {.batch = TrainOptions{}.batch}); });
}

std::vector<OptionDoc> options_of(const LossRow& loss) { return lagtape::options_of(loss.loss); }

/// The options of a row that reads them.
template <class Row>
requires requires(const Row& row, JsonReader& reader) { row.read(reader); }
std::vector<OptionDoc> options_of(const Row& row) {
  return documented([&](JsonReader& reader) { row.read(reader); });
}

/// The texts of a row of some table.
CatalogueEntry texts_of(const auto& row) {
  CatalogueEntry texts{.name = std::string(row.name), .summary = std::string(row.summary)};
  if constexpr (requires { row.source; }) texts.source = row.source;
  if constexpr (requires { row.equations; }) texts.equations = row.equations;
  if constexpr (requires { row.files; }) texts.files = row.files;
  if constexpr (requires { options_of(row); }) texts.options = options_of(row);
  return texts;
}

std::vector<CatalogueEntry> texts_of_all(const auto& rows) {
  std::vector<CatalogueEntry> texts;
  for (const auto& row : rows) texts.push_back(texts_of(row_in(row)));
  return texts;
}

std::vector<CatalogueEntry> function_rows() {
  std::vector<CatalogueEntry> rows;
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function)
      rows.push_back({.name = std::string(function.name), .summary = std::string(function.formula)});
  return rows;
}

std::vector<CatalogueEntry> layer_rows() {
  std::vector<CatalogueEntry> rows = texts_of_all(per_step_layers());
  for (CatalogueEntry& row : texts_of_all(sequence_layers())) rows.push_back(std::move(row));
  return rows;
}

std::vector<CatalogueEntry> loss_rows() {
  std::vector<CatalogueEntry> rows = texts_of_all(losses());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Loss loss = losses()[i].loss;
    rows[i].summary += text_of("; for ", targets_of(loss), "; metrics: ", listed(metric_names(loss)));
  }
  return rows;
}

std::vector<CatalogueEntry> metric_rows() {
  std::vector<CatalogueEntry> rows = texts_of_all(metrics());
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].summary += !metrics()[i].ranks_models      ? "; does not rank models"
                       : metrics()[i].larger_is_better ? "; larger is better"
                                                       : "; smaller is better";
  for (const ClassMetricEntry& entry : class_metrics())
    rows.push_back({.name = text_of(entry.stem, "0"),
                    .summary = text_of(entry.summary, ", by its number: ", entry.stem, "0, ", entry.stem,
                                       "1, ..., or by its name: ", class_metric_name(entry, "NAME"),
                                       "; larger is better")});
  return rows;
}

std::vector<CatalogueEntry> train_rows() {
  const auto row = [](const char* name, const char* summary, bool fresh) {
    return CatalogueEntry{
        .name = name, .summary = summary, .options = described(kTrainOptions, TrainOptions{.fresh = fresh})};
  };
  return {row("epochs", "`train` for a fixed training set, which is passed over in epochs", false),
          row("fresh", "`train` for \"fresh\" data: a training set that never ends", true)};
}

std::vector<CatalogueEntry> readout_rows() {
  return {{"readout", "an affine map of the top layer's output", "",
           "y = W @ h + W.bias\ntied: y = E @ h + W.bias, where E is the embedding's table",
           readout_options()}};
}

constexpr CatalogueKind kKinds[] = {{"cells", [] { return texts_of_all(cells()); }},
                                    {"functions", function_rows},
                                    {"layers", layer_rows},
                                    {"readout", readout_rows, true},
                                    {"initializers", [] { return texts_of_all(initializers()); }},
                                    {"tasks", [] { return texts_of_all(tasks()); }},
                                    {"losses", loss_rows},
                                    {"metrics", metric_rows},
                                    {"optimizers", [] { return texts_of_all(optimizers()); }},
                                    {"schedules", [] { return texts_of_all(schedules()); }},
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
