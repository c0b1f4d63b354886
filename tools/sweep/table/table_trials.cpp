#include "lagtape/tools/sweep/table/table_trials.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <tuple>

#include "lagtape/core/error.h"
#include "lagtape/core/hash.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/json_set.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape::table {

namespace fs = std::filesystem;

namespace {

/// The experiment of a row as its trainings read it.
Experiment experiment_of(const PaperTable& table, const Row& row) {
  const ExperimentPlace place = table.experiment(row);
  Experiment experiment = read_experiment(place.file, table.set, place.row);
  if (std::ranges::find(experiment.metrics, table.metric) == experiment.metrics.end()) {
    throw InputError({.file = place.text(), .pointer = "/metrics"}, Rule::conflict,
                     text_of("the table compares ", table.metric, ", which is not among them."));
  }
  return experiment;
}

/// The settings of an experiment that decide its weights.
Json settings_of(const Experiment& experiment) {
  Json document = document_of(experiment);
  leave_out_reports(document);
  return document;
}

/// The settings with which a run was trained; null where it has not begun.
Json settings_of(const RunFolder& folder) {
  const fs::path file = folder.experiment_file();
  if (!fs::exists(file)) return {};
  return settings_of(read_experiment(file));
}

/// The settings of training, which a resumed run may change, where a finished run has others: "train.epochs 3 in place of
/// 6".
std::string differences(const Json& before, const Json& now) {
  std::string text;
  if (before.is_null()) return text;
  for (const auto& [key, value] : now["train"].items())
    if (const Json old = before["train"].value(key, Json()); old != value)
      text +=
          text_of(text.empty() ? "" : ", ", "train.", key, " ", old.dump(), " in place of ", value.dump());
  return text;
}

/// The number of a model's parameters, or 0 where data files decide it.
std::int64_t parameters_of(const Experiment& experiment) {
  if (!experiment.data.shape) return 0;
  return undrawn_model(experiment, *experiment.data.shape).parameters().count();
}

/// The name of the processor and the number of its cores: "AMD EPYC, 2 cores".
std::string machine() {
  std::ifstream lines("/proc/cpuinfo");
  std::string name = "unknown processor";
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    name = line.substr(colon + 2);
    break;
  }
  return fmt::format("{}, {} cores", name, ThreadPool::hardware_threads());
}

/// Reads what became of a trial. A run that ended with other settings counts as unfinished.
void look(Trial& trial, const PaperTable& table, const Experiment& of_row) {
  const Experiment experiment = with_seed(of_row, trial.seed);
  const RunFolder folder(trial.folder);
  refuse_link(trial.folder);
  folder.check(experiment, true);
  Trial found = trial;
  look_at(found, table);
  if (found.params == 0) found.params = parameters_of(experiment);
  const Json now = settings_of(experiment), before = found.has_ended() ? settings_of(folder) : now;
  if (before.dump_sorted() == now.dump_sorted()) {
    trial = found;
    if (trial.has_ended()) trial.machine = machine();
  } else {
    trial.state = folder.can_resume() ? RunState::unfinished : RunState::missing;
    trial.message = found.state == RunState::done ? differences(before, now) : "";
    trial.params = found.params;
  }
  if (trial.state != RunState::done || std::isfinite(trial.value)) return;
  throw InputError({folder.summary_file().string()}, Rule::not_finite,
                   text_of("/test/", table.metric,
                           ": is not finite, so the table has no number of this run. Leave its model out "
                           "with --only, or compare another metric."));
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json known(std::int64_t count) { return count > 0 ? Json(count) : Json(nullptr); }

Json json_of(const Trial& trial, double scale) {
  Json json = {{"seed", trial.seed},
               {"state", sweep::name_of(trial.state)},
               {"value", number(trial.value * scale)},
               {"seconds", trial.seconds},
               {"folder", trial.folder.string()}};
  if (!trial.message.empty()) json["message"] = trial.message;
  return json;
}

Json json_of(const PaperTable& table, const Row& row, const Outcome& outcome) {
  Json runs = Json::array();
  for (const Trial* trial : outcome.trials) runs.push_back(json_of(*trial, table.scale));
  Json length;
  if (const std::optional<Shortened> shorter = shortened(table, row))
    length = {{"ran", shorter->to}, {"of", shorter->of}, {"unit", shorter->unit}};
  return {{"name", row.name},
          {"model", row.model.empty() ? Json(nullptr) : Json(row.model)},
          {"printed", number(row.printed)},
          {"printed_deviation", number(row.printed_deviation)},
          {"printed_parameters", known(row.printed_parameters)},
          {"mean", number(outcome.mean)},
          {"deviation", number(outcome.deviation)},
          {"best", number(outcome.best)},
          {"params", known(outcome.params)},
          {"parameter_difference", parameter_difference(row, outcome)},
          {"seconds", outcome.values.empty() ? Json(nullptr) : Json(outcome.seconds)},
          {"changed", row.changed.empty() ? Json(nullptr) : Json(row.changed)},
          {"shortened", length},
          {"note", row.note},
          {"runs", runs}};
}

}  // namespace

std::string experiment_number(const PaperTable& table, const Row& row) {
  Json document = read_experiment_document(table.experiment(row));
  for (const std::string& assignment : table.set) assign(document, assignment);
  for (const char* key : {"$schema", "name", "seed"}) document.erase(key);
  leave_out_reports(document);
  if (document.contains("data")) {
    document["data"].erase("path");
    Json& vectors = document["data"]["vectors"];
    if (vectors.is_string()) vectors = fs::path(vectors.get<std::string>()).filename().string();
    if (vectors.is_null()) document["data"].erase("vectors");
  }
  return fmt::format("{:016x}", fnv1a(document.dump_sorted()));
}

std::vector<Trial> find_trials(const PaperTable& table, const std::vector<std::size_t>& rows,
                               std::int64_t seeds, const fs::path& out) {
  std::vector<Trial> trials = sweep::trials_of(rows, 0, seeds, [&](std::size_t row, std::int64_t seed) {
    return (out / text_of(table.rows[row].model, "-", seed)).string();
  });
  for (const std::size_t number : rows) {
    const Row& row = table.rows[number];
    const Experiment experiment = experiment_of(table, row);
    const std::string hash = experiment_number(table, row);
    std::int64_t params = 0;  // a model is counted once, not with every seed
    for (Trial& trial : trials) {
      if (trial.row != number) continue;
      trial.model = row.model;
      trial.experiment = hash;
      trial.params = params;
      look(trial, table, experiment);
      params = trial.params;
    }
  }
  return trials;
}

void count_parameters_of_others(PaperTable& table, const std::vector<std::size_t>& chosen) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    Row& row = table.rows[i];
    if (row.model.empty() || std::ranges::find(chosen, i) != chosen.end()) continue;
    try {
      const ExperimentPlace place = table.experiment(row);
      row.parameters = parameters_of(read_experiment(place.file, table.set, place.row));
    } catch (const InputError&) {
      // The row was not chosen, so a fault in its file does not end the command.
    }
  }
}

void train_all(std::vector<Trial>& trials, const PaperTable& table, const fs::path& out,
               const sweep::RunnerOptions& options) {
  const sweep::Training training{
      .claims = out / ".claims",
      .arguments =
          [&](const Trial& trial) {
            return sweep::arguments_of(table.experiment(table.rows[trial.row]), table.set);
          },
      .look = [&](Trial& trial) { look(trial, table, experiment_of(table, table.rows[trial.row])); }};
  sweep::train_all(trials, 0, trials.size(), training, options);
}

void raise_failures(const PaperTable& table, const std::vector<Trial>& trials) {
  const auto name = [&](const Trial& trial) {
    return text_of(table.rows[trial.row].model, " seed ", trial.seed);
  };
  std::string failures;
  std::size_t crashed = 0, refused = 0;
  for (const Trial& trial : trials) {
    if (!sweep::has_crashed(trial) && !sweep::was_refused(trial)) continue;
    ++(sweep::was_refused(trial) ? refused : crashed);
    failures += text_of("\n", name(trial), ": ", trial.message);
  }
  if (crashed > 0)
    throw Error(text_of(crashed + refused, " of ", trials.size(), " trainings failed:", failures));
  if (refused > 0) throw InputError(sweep::problems_of(trials, name));
}

std::vector<Outcome> outcomes_of(const PaperTable& table, const std::vector<Trial>& trials) {
  std::vector<Outcome> outcomes = sweep::outcomes_of(table, table.rows.size(), trials);
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    outcomes[i].params = std::max(outcomes[i].params, table.rows[i].parameters);
  return outcomes;
}

std::optional<Shortened> shortened(const PaperTable& table, const Row& row) {
  if (row.model.empty()) return {};
  const Json before = read_experiment_document(table.experiment(row));
  Json after = before;
  for (const std::string& assignment : table.set) assign(after, assignment);
  const TrainOptions defaults;
  const auto length = [](const Json& document, const char* key, std::int64_t by_default) {
    return document.contains("train") ? document["train"].value(key, by_default) : by_default;
  };
  for (const auto& [key, by_default, unit] :
       {std::tuple("epochs", defaults.epochs, "epochs"), std::tuple("steps", defaults.steps, "updates")}) {
    const std::int64_t of = length(before, key, by_default), to = length(after, key, by_default);
    if (to < of) return Shortened{to, of, unit};
  }
  return {};
}

std::string parameter_difference(const Row& row, const Outcome& outcome) {
  constexpr double kAllowed = 0.05 + 1e-9;  // exactly 5 % is allowed
  if (row.printed_parameters == 0 || outcome.params == 0) return {};
  const double ratio = static_cast<double>(outcome.params) / static_cast<double>(row.printed_parameters);
  std::int64_t last_digit = 1;  // its place: 100 of 1200, to which our number is rounded too
  while (row.printed_parameters % (10 * last_digit) == 0) last_digit *= 10;
  const std::int64_t rounded = (outcome.params + last_digit / 2) / last_digit * last_digit;
  if (std::abs(ratio - 1) <= kAllowed || rounded == row.printed_parameters) return {};
  return fmt::format("{} parameters beside {} printed, {:.0f} % {}", outcome.params, row.printed_parameters,
                     100 * std::abs(ratio - 1), ratio < 1 ? "fewer" : "more");
}

std::string json(const PaperTable& table, const std::vector<Trial>& trials) {
  Json rows = Json::array();
  const std::vector<Outcome> outcomes = outcomes_of(table, trials);
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    rows.push_back(json_of(table, table.rows[i], outcomes[i]));
  const Json document = {{"task", table.task()},
                         {"title", table.title},
                         {"source", table.source},
                         {"metric", table.metric},
                         {"unit", table.unit},
                         {"scale", table.scale},
                         {"larger_is_better", table.larger_is_better},
                         {"rows", rows}};
  return document.dump(2);
}

}  // namespace lagtape::table
