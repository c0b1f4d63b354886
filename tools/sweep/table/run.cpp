#include "lagtape/tools/sweep/table/run.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/hash.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/sweep/pool.h"
#include "lagtape/tools/sweep/table/machine.h"
#include "lagtape/tools/train/experiment.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/json_set.h"
#include "lagtape/tools/train/run_folder.h"

namespace lagtape::table {

namespace fs = std::filesystem;

namespace {

/// The experiment of a run as its training reads it.
Experiment experiment_of(const Run& run, const PaperTable& table, std::vector<std::string> assignments) {
  const ExperimentPlace place = table.experiment(table.rows[run.row]);
  assignments.push_back(text_of("seed=", run.seed));
  Experiment experiment = read_experiment(place.file, assignments, place.row);
  if (std::find(experiment.metrics.begin(), experiment.metrics.end(), table.metric) ==
      experiment.metrics.end()) {
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

/// The settings with which a run was trained.
Json settings_of(const RunFolder& folder) {
  const fs::path file = folder.experiment_file();
  return settings_of(parse_experiment(read_file(file), file.string(), fs::absolute(folder.path())));
}

/// The settings of training, which a resumed run may change, where a finished run has others: "train.epochs 3 in place of
/// 6".
std::string differences(const Json& before, const Json& now) {
  std::string text;
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

/// The time at which a file was last written.
std::string date_of(const fs::path& file) {
  const auto time = std::chrono::file_clock::to_sys(fs::last_write_time(file)).time_since_epoch();
  return fmt::format("{:%Y-%m-%d}",
                     fmt::gmtime(std::chrono::duration_cast<std::chrono::seconds>(time).count()));
}

void read_summary(Run& run, const PaperTable& table) {
  const fs::path file = RunFolder(run.folder).summary_file();
  const Json summary = parse_json(read_file(file), file.string());
  const auto number = [&](const std::string& place) {
    // JSON has no notation for numbers that are not finite; they are written as null.
    const Json* found = summary.find_pointer(place);
    if (found != nullptr && found->is_null()) {
      throw InputError({file.string()}, Rule::not_finite,
                       text_of(place,
                               ": is not finite, so the table has no number of this run. Leave its model out "
                               "with --only, or compare another metric."));
    }
    if (found == nullptr || !found->is_number()) {
      throw InputError({file.string()}, Rule::wrong_type,
                       text_of(place, ": expected a number. Does the task have a test set?"));
    }
    return found->get<double>();
  };
  run.value = number("/test/" + table.metric);
  run.seconds = number("/seconds");
  run.params = static_cast<std::int64_t>(number("/params"));
  if (summary.contains("arithmetic")) run.arithmetic = static_cast<std::int64_t>(number("/arithmetic"));
}

}  // namespace

std::string experiment_number(const ExperimentPlace& place, const std::vector<std::string>& assignments) {
  Json document = read_experiment_document(place);
  for (const std::string& assignment : assignments) assign(document, assignment);
  for (const char* key : {"$schema", "name", "seed"}) document.erase(key);
  leave_out_reports(document);
  if (document.contains("data")) {
    document["data"].erase("path");
    Json& vectors = document["data"]["vectors"];
    if (vectors.is_string()) vectors = fs::path(vectors.get<std::string>()).filename().string();
    if (vectors.is_null()) document["data"].erase("vectors");
  }
  return fmt::format("{:016x}", fnv1a(document.dump_sorted()));  // with sorted keys
}

fs::path divergence_file(const Run& run) { return run.folder / "diverged.txt"; }

void look_at(Run& run, const PaperTable& table, const std::vector<std::string>& assignments) {
  const Experiment experiment = experiment_of(run, table, assignments);
  for (const fs::path& path : {run.folder, divergence_file(run)}) refuse_link(path);
  const RunFolder folder(run.folder);
  folder.check(experiment, true);
  run.experiment = experiment_number(table.experiment(table.rows[run.row]), assignments);
  run.state = folder.can_resume() ? RunState::unfinished : RunState::missing;
  run.message.clear();
  // Either file may come from the run before it was resumed with changed settings. Resuming removes the
  // summary, so a summary belongs to the later end.
  const bool is_finished = fs::exists(folder.summary_file());
  const Json before = fs::exists(folder.experiment_file()) ? settings_of(folder) : Json();
  const Json now = settings_of(experiment);
  const bool is_this = before.dump_sorted() == now.dump_sorted();
  if (is_finished && !is_this && !before.is_null()) run.message = differences(before, now);
  if (is_this && is_finished) {
    run.state = RunState::done;
    read_summary(run, table);
    run.date = date_of(folder.summary_file());
  } else if (is_this && fs::exists(divergence_file(run))) {
    run.state = RunState::diverged;
    run.message = read_file(divergence_file(run));
    run.date = date_of(divergence_file(run));
  }
  if (!run.date.empty()) run.machine = machine();
  if (run.params == 0) run.params = parameters_of(experiment);
}

void count_parameters_of_others(PaperTable& table, const std::vector<std::size_t>& chosen,
                                const std::vector<std::string>& assignments) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    Row& row = table.rows[i];
    if (row.model.empty() || std::ranges::find(chosen, i) != chosen.end()) continue;
    try {
      const ExperimentPlace place = table.experiment(row);
      row.parameters = parameters_of(read_experiment(place.file, assignments, place.row));
    } catch (const InputError&) {
      // A row that nobody asked for keeps nobody from the others.
    }
  }
}

std::vector<Run> find_runs(const PaperTable& table, const std::vector<std::size_t>& rows, std::int64_t seeds,
                           const fs::path& out, const std::vector<std::string>& assignments) {
  std::vector<Run> runs;
  std::map<std::size_t, std::int64_t> params;  // by row: a model is counted once, not with every seed
  for (std::int64_t seed = 0; seed < seeds; ++seed) {
    for (const std::size_t row : rows) {
      Run run;
      run.row = row;
      run.seed = seed;
      run.folder = out / text_of(table.rows[row].model, "-", seed);
      run.params = params[row];
      look_at(run, table, assignments);
      params[row] = run.params;
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

std::vector<int> train_all(std::vector<Run>& runs, const PaperTable& table, const TrainingOptions& options) {
  std::vector<int> failures;
  std::deque<sweep::Run*> waiting;
  for (Run& run : runs)
    if (!run.has_ended()) waiting.push_back(&run);
  const std::size_t all = waiting.size();
  std::size_t ended = 0;
  sweep::Pool pool{
      .jobs = options.jobs, .threads = options.threads, .stop_requested = options.stop_requested};
  pool.begin = [&](const sweep::Run& run, int threads) -> sweep::Turn {
    std::vector<std::string> arguments =
        table.experiment(table.rows[static_cast<const Run&>(run).row]).arguments();
    arguments.insert(arguments.begin(), "train");
    for (const std::string& assignment : options.assignments)
      arguments.insert(arguments.end(), {"--set", assignment});
    arguments.insert(arguments.end(), {"--seed", std::to_string(run.seed), "--out", run.folder.string(),
                                       "--threads", std::to_string(threads), "--resume"});
    return {.arguments = std::move(arguments)};
  };
  pool.ended = [&](sweep::Run& ended_run, const sweep::Ending& ending) {
    auto& run = static_cast<Run&>(ended_run);
    if (ending.diverged()) write_file_atomically(divergence_file(run), ending.message(), Links::refused);
    look_at(run, table, options.assignments);
    if (run.state != RunState::done && run.state != RunState::diverged) {
      run.state = RunState::failed;
      run.message =
          ending.message().empty() ? text_of("ended with exit code ", ending.code) : ending.message();
      failures.push_back(ending.code);
    }
    if (options.ended) options.ended(run, ++ended, all);
    return false;
  };
  if (const std::optional<std::size_t> running = sweep::train_all(std::move(waiting), pool))
    throw Interrupted(text_of("interrupted with ", ended, " of ", all, " trainings done, ", *running,
                              " saved in between. The same command resumes them"));
  return failures;
}

}  // namespace lagtape::table
