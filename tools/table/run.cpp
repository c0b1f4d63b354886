#include "lagtape/tools/table/run.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json_reader.h"
#include "lagtape/tools/experiment.h"
#include "lagtape/tools/run_folder.h"

namespace lagtape::table {

namespace fs = std::filesystem;

namespace {

/// The experiment of a run, as the training of it will read it.
Experiment experiment_of(const Run& run, const Plan& plan, std::vector<std::string> assignments) {
  const fs::path file = plan.experiment(plan.rows[run.row]);
  assignments.push_back(concat("seed=", run.seed));
  Experiment experiment = read_experiment(file, assignments);
  if (std::find(experiment.metrics.begin(), experiment.metrics.end(), plan.metric) ==
      experiment.metrics.end()) {
    throw InputError(
        concat(file.string(), ": /metrics: the table compares ", plan.metric, ", which is not among them."));
  }
  return experiment;
}

/// Whether a run that `RunFolder::check` has let pass, and which has a summary, is as long as it is to be.
bool is_as_long(const RunFolder& folder, const Experiment& experiment) {
  const fs::path file = folder.experiment_file();
  return parse_experiment(read_file(file), file.string(), fs::absolute(folder.path())).json ==
         experiment.json;
}

void read_summary(Run& run, const Plan& plan) {
  const fs::path file = RunFolder(run.folder).summary_file();
  const Json summary = parse_json(read_file(file), file.string());
  const auto number = [&](const Json::json_pointer& place) {
    if (!summary.contains(place) || !summary[place].is_number()) {
      throw InputError(concat(file.string(), ": ", place.to_string(),
                              ": expected a number. Does the task have a test set?"));
    }
    return summary[place].get<double>();
  };
  run.value = number(Json::json_pointer("/test") / plan.metric) * plan.scale;
  run.seconds = number(Json::json_pointer("/seconds"));
  run.params = static_cast<std::int64_t>(number(Json::json_pointer("/params")));
}

}  // namespace

const char* name_of(RunState state) {
  switch (state) {
    case RunState::missing: return "missing";
    case RunState::unfinished: return "unfinished";
    case RunState::done: return "done";
    case RunState::diverged: return "diverged";
    case RunState::failed: return "failed";
  }
  return "";
}

fs::path divergence_file(const Run& run) { return run.folder / "diverged.txt"; }

fs::path log_file(const Run& run) { return run.folder.string() + ".log"; }

void look_at(Run& run, const Plan& plan, const std::vector<std::string>& assignments) {
  const Experiment experiment = experiment_of(run, plan, assignments);
  const RunFolder folder(run.folder);
  folder.check(experiment, true);
  run.state = folder.can_resume() ? RunState::unfinished : RunState::missing;
  if (fs::exists(divergence_file(run))) {
    run.state = RunState::diverged;
    run.message = read_file(divergence_file(run));
  } else if (fs::exists(folder.summary_file()) && is_as_long(folder, experiment)) {
    run.state = RunState::done;
    read_summary(run, plan);
  }
}

std::vector<Run> find_runs(const Plan& plan, const std::vector<std::size_t>& rows, std::int64_t seeds,
                           const fs::path& out, const std::vector<std::string>& assignments) {
  std::vector<Run> runs;
  for (std::int64_t seed = 0; seed < seeds; ++seed) {
    for (const std::size_t row : rows) {
      Run run;
      run.row = row;
      run.seed = seed;
      run.folder = out / concat(plan.rows[row].model, "-", seed);
      look_at(run, plan, assignments);
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

}  // namespace lagtape::table
