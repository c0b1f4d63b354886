#include "lagtape/tools/sweep/table/results.h"

#include <fmt/core.h>

#include <cmath>
#include <set>

#include "lagtape/core/io/file.h"
#include "lagtape/core/io/folder_lock.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/text_lines.h"
#include "lagtape/tools/version.h"

namespace lagtape::table {

namespace fs = std::filesystem;

namespace {

/// A line of the file.
struct Line {
  std::string metric;
  Trial trial;
};

bool is_done(const Trial& trial) { return trial.state == RunState::done; }
bool is_line_of_done(const Line& line) { return is_done(line.trial); }
bool has_diverged(const Trial& trial) { return trial.state == RunState::diverged; }

constexpr Option kIdentityRows[] = {
    required<&Trial::model>("model", "MODEL.json of the table's folder"),
    required<&Trial::seed>("seed", at_least(0), "seed of the run"),
    required<&Trial::experiment>("experiment", "hash of the experiment"),
    option<&Trial::state>("state", Choices{{"done", RunState::done}, {"diverged", RunState::diverged}},
                          "how it ended"),
};
constexpr Option kEndRows[] = {
    required<&Trial::value>("value", Range{}, "value of the metric, not scaled").when<is_done>(),
    required<&Trial::params>("params", at_least(0), "number of parameters").when<is_done>(),
    required<&Trial::seconds>("seconds", at_least(0), "duration of the run").when<is_done>(),
    required<&Trial::message>("message", "where it diverged").when<has_diverged>(),
    required<&Trial::date>("date", "date of the run's end"),
    required<&Trial::machine>("machine", "machine of the run"),
    required<&Trial::version>("version", "version of lagtape"),
    option<&Trial::arithmetic>("arithmetic", at_least(0), "number of lagtape's arithmetic; 0: not recorded")
        .open(),
};
constexpr OptionTable kIdentity = kIdentityRows, kEnd = kEndRows;
constexpr Option kLine[] = {
    rows_of<&Line::trial>(kIdentity),
    required<&Line::metric>("metric", "metric of the test set").when<is_line_of_done>(),
    rows_of<&Line::trial>(kEnd),
};

}  // namespace

Results::Results(fs::path file) : file_(fs::absolute(file)) {
  const Place place{.item = "--results " + file.string()};
  if (!fs::is_directory(file_.parent_path()))
    throw InputError(place, Rule::missing, text_of("there is no folder ", file_.parent_path().string()));
  if (fs::exists(file_) && !fs::is_regular_file(file_))
    throw InputError(place, Rule::wrong_type, "is not a regular file.");
  read();
}

void Results::read() {
  if (!fs::exists(file_)) return;
  const std::string text = read_file(file_);
  std::string_view rest = text;
  int number = 0;
  for (std::string line; take_line(rest, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = text_of(file_.string(), " line ", number);
    const Json document = parse_json(line, where);
    JsonErrors errors;
    JsonReader reader(document, "", errors);
    Line read{.metric = {}, .trial = {.state = RunState::done}};
    read_options(reader, kLine, read);
    reader.finish();
    errors.raise(where);
    const Key key = key_of(read.trial, read.metric, read.trial.state);
    const auto [known, is_new] = entries_.try_emplace(key, read.trial);
    if (!is_new) require_same(key, read.trial, known->second, where, "an earlier line");
  }
}

Results::Key Results::key_of(const Trial& trial, const std::string& metric, RunState state) {
  return {trial.model, trial.seed, trial.experiment, state == RunState::done ? metric : std::string()};
}

void Results::require_same(const Key& key, const Trial& here, const Trial& there, const std::string& where,
                           const std::string& elsewhere) {
  if (!is_done(here) || here.value == there.value) return;
  const auto& [model, seed, experiment, metric] = key;
  throw InputError(
      {where}, Rule::conflict,
      text_of(metric, " of the model ", model, ", seed ", seed, ", is ", fmt::format("{}", here.value),
              " here and ", fmt::format("{}", there.value), " in ", elsewhere, ". Remove one of them."));
}

void Results::fill(std::vector<Trial>& trials, const PaperTable& table) const {
  for (Trial& trial : trials) {
    if (is_done(trial) || has_diverged(trial)) continue;
    auto found = entries_.find(key_of(trial, table.metric, RunState::done));
    if (found == entries_.end()) found = entries_.find(key_of(trial, table.metric, RunState::diverged));
    if (found == entries_.end()) continue;
    const Trial before = trial;
    trial = found->second;
    trial.row = before.row;
    trial.folder = before.folder;
    if (before.params > 0) trial.params = before.params;  // counted by the experiment's file
  }
}

std::string Results::others(const std::vector<Trial>& trials, const PaperTable& table) const {
  std::set<std::string> models;
  std::set<std::pair<std::string, std::string>> experiments;
  std::set<std::tuple<std::string, std::string, std::int64_t>> seeds;
  for (const Trial& trial : trials) {
    models.insert(trial.model);
    experiments.emplace(trial.model, trial.experiment);
    seeds.emplace(trial.model, trial.experiment, trial.seed);
  }
  std::int64_t of_settings = 0, of_seeds = 0, of_metrics = 0;
  for (const auto& entry : entries_) {
    const auto& [model, seed, experiment, metric] = entry.first;
    if (!models.contains(model)) continue;
    if (!experiments.contains({model, experiment})) {
      ++of_settings;
    } else if (!seeds.contains({model, experiment, seed})) {
      ++of_seeds;
    } else if (!metric.empty() && metric != table.metric) {
      ++of_metrics;
    }
  }
  std::string text;
  for (const auto& [count, what] :
       {std::pair(of_settings, "other settings (--set)"), std::pair(of_seeds, "other seeds (--seeds)"),
        std::pair(of_metrics, "other metrics")})
    if (count > 0) text += text_of(text.empty() ? "" : ", ", count, " with ", what);
  return text;
}

void Results::add(const std::vector<Trial>& trials, const PaperTable& table) {
  const FolderLock lock(file_.parent_path());
  read();
  bool grown = false;
  for (Trial trial : trials) {
    if (!is_done(trial) && !has_diverged(trial)) continue;
    trial.seconds = std::round(trial.seconds * 10) / 10;
    trial.version = kVersion;
    const Key key = key_of(trial, table.metric, trial.state);
    const auto [known, is_new] = entries_.try_emplace(key, trial);
    if (!is_new) require_same(key, known->second, trial, file_.string(), trial.folder.string());
    grown |= is_new;
  }
  // A new file is written even if it is empty, so that a wrong path is an error before the training.
  if (!grown && fs::exists(file_)) return;
  std::string text;
  for (const auto& [key, trial] : entries_)
    text += json_of(kLine, Line{.metric = std::get<3>(key), .trial = trial}).dump() + "\n";
  sweep::write_results_file(file_, text, Links::followed);
}

}  // namespace lagtape::table
