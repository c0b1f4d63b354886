#include "lagtape/tools/analysis/scored_run.h"

#include <optional>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/losses.h"

namespace lagtape {

namespace {

/// Data from another path may differ from those of the training.
void check_fit(const Source& source, const DataShape& data, const std::string& run) {
  const auto refuse = [&](Rule rule, const auto&... what) {
    throw InputError({run}, rule, text_of("its model ", what..., "."));
  };
  const LossFunction& loss = source.experiment.loss;
  if (!loss_fits(loss, data)) throw InputError({run}, Rule::conflict, mismatch(loss, data));
  const Model& model = source.model;
  if (data.input != model.input_width())
    refuse(Rule::shape, "takes ", model.input_width(), " inputs per step. The data have ", data.input);
  if (model.tokens() > 0 && data.tokens != model.tokens())
    refuse(Rule::conflict, "knows ", model.tokens(), " tokens. The data have ", data.tokens);
  if (output_width(loss, data) != model.output_width())
    refuse(Rule::shape, "has ", model.output_width(), " outputs. The data need ", output_width(loss, data));
  if (data.every_step != reads_every_step(model.at())) {
    refuse(Rule::conflict, data.every_step
                               ? "reads out once per sequence. The data have a target at every step"
                               : "reads out at every step. The data have one target per sequence");
  }
}

/// The task with the split that is asked for. New data that are too few to be divided as those of the training are
/// refused with the way to score them whole.
Task load_task(const ScoringOptions& options, const Experiment& experiment, ThreadPool& pool) try {
  return options.split == "all" ? experiment.load_to_score(pool) : experiment.load_task(pool);
} catch (const InputError& error) {
  if (options.data.empty() || options.split == "all") throw;
  try {
    experiment.load_to_score(pool);
  } catch (const InputError&) {
    throw error;
  }
  throw error.with_hint(
      "--data is divided into train, valid and test as the experiment says. --split all scores all of it.");
}

/// The run with data whose axes are the other way round than those of the training, where only that fits the model.
std::optional<std::pair<Source, Task>> with_other_layout(const ScoringOptions& options,
                                                         const std::string& run, std::vector<std::string> set,
                                                         const Source& source, ThreadPool& pool) try {
  const Json data = document_of(source.experiment).at("data");
  if (options.data.empty() || data.value("task", "") != "arrays") return std::nullopt;
  set.push_back(text_of("data.layout=",
                        data.value("layout", "") == "channels_first" ? "time_first" : "channels_first"));
  Source turned = load_run(run, set);
  Task task = load_task(options, turned.experiment, pool);
  if (task.shape.input != source.model.input_width()) return std::nullopt;
  return std::pair(std::move(turned), std::move(task));
} catch (const InputError&) {
  return std::nullopt;
}

/// The run with the data to score it on.
std::pair<Source, Task> load_both(const ScoringOptions& options, const std::string& run,
                                  const std::vector<std::string>& set, ThreadPool& pool) {
  Source source = load_run(run, set);
  const bool all = options.split == "all";
  if (all && source.experiment.data.fresh)
    throw InputError(Problem{.place = {.item = "--split all"},
                             .rule = Rule::not_supported,
                             .statement = text_of(run, " draws fresh training sequences for every step"),
                             .expected = "valid or test"});
  try {
    Task task = load_task(options, source.experiment, pool);
    if (task.shape.input != source.model.input_width())
      if (auto turned = with_other_layout(options, run, set, source, pool)) return *std::move(turned);
    return {std::move(source), std::move(task)};
  } catch (const InputError&) {
    if (auto turned = with_other_layout(options, run, set, source, pool)) return *std::move(turned);
    throw;
  }
}

}  // namespace

ScoredRun load_scored_run(const std::string& run, const ScoringOptions& options, ThreadPool& pool) {
  std::vector<std::string> set;
  if (!options.data.empty()) set.push_back("data.path=" + options.data);
  if (!options.frequency.empty()) set.push_back("data.frequency=" + options.frequency);
  auto [source, task] = load_both(options, run, set, pool);
  const Dataset& split = options.split == "all" ? *task.test : task.split(options.split);
  if (split.size() == 0 || split.size() == Dataset::kUnlimited)
    throw InputError({.item = "--split"}, Rule::missing,
                     text_of(run, " has no fixed sequences in this split"), quote(options.split));
  check_fit(source, task.shape, run);
  return {std::move(source), std::move(task), split};
}

Json json_of(const Evaluation& evaluation, const Confusion* confusion,
             const std::vector<SeriesEvaluation>& series) {
  Json json = Json::object();
  for (const auto& [name, value] : evaluation) json[name] = value;
  for (std::int64_t actual = 0; confusion && actual < confusion->classes(); ++actual) {
    Json row;
    for (std::int64_t predicted = 0; predicted < confusion->classes(); ++predicted) {
      row.push_back(confusion->count(actual, predicted));
    }
    json["confusion"].push_back(row);
    Json of_class = {{"precision", confusion->precision(actual)},
                     {"recall", confusion->recall(actual)},
                     {"f1", confusion->f1(actual)}};
    if (confusion->has_names()) of_class["name"] = confusion->name(actual);
    json["classes"].push_back(std::move(of_class));
  }
  for (const SeriesEvaluation& one : series) json["series"][one.name] = json_of(one.metrics);
  return json;
}

}  // namespace lagtape
