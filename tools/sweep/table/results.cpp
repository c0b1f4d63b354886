#include "lagtape/tools/sweep/table/results.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lagtape/core/io/file.h"
#include "lagtape/core/io/folder_lock.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/text_lines.h"
#include "lagtape/tools/version.h"

namespace lagtape::table {

namespace fs = std::filesystem;

Results::Results(fs::path file) : file_(fs::absolute(file)) {
  if (!fs::is_directory(file_.parent_path()))
    throw InputError(
        text_of("--results ", file.string(), ": there is no folder ", file_.parent_path().string()));
  if (fs::exists(file_) && !fs::is_regular_file(file_))
    throw InputError(text_of("--results ", file.string(), ": is not a regular file."));
  read();
}

void Results::read() {
  if (!fs::exists(file_)) return;
  const std::string text = read_file(file_);
  std::string_view rest = text;
  int number = 0;
  for (std::string line; take_line(rest, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      read_line(line, text_of(file_.string(), " line ", number));
  }
}

void Results::read_line(const std::string& line, const std::string& where) {
  const Json document = parse_json(line, where);
  JsonErrors errors;
  JsonReader reader(document, "", errors);
  Key key;
  auto& [model, seed, experiment, metric] = key;
  Entry entry;
  std::string state = sweep::name_of(RunState::done);
  reader.required("model", model, "MODEL.json of the table's folder");
  reader.required("seed", seed, at_least(0), "seed of the run");
  reader.required("experiment", experiment, "hash of the experiment");
  reader.choice("state", state, {sweep::name_of(RunState::done), sweep::name_of(RunState::diverged)},
                "how it ended");
  if (state == sweep::name_of(RunState::done)) {
    reader.required("metric", metric, "metric of the test set");
    reader.required("value", entry.value, {}, "value of the metric, not scaled");
    reader.required("params", entry.params, at_least(0), "number of parameters");
    reader.required("seconds", entry.seconds, at_least(0), "duration of the run");
  } else {
    entry.state = RunState::diverged;
    reader.required("message", entry.message, "where it diverged");
  }
  reader.required("date", entry.date, "date of the run's end");
  reader.required("machine", entry.machine, "machine of the run");
  reader.required("version", entry.version, "version of lagtape");
  reader.optional("arithmetic", entry.arithmetic, at_least(0),
                  "number of lagtape's arithmetic; 0: not recorded");
  reader.finish();
  errors.raise(where);
  const auto [found, is_new] = entries_.try_emplace(key, entry);
  if (!is_new) require_same(entry, found->second, key, where, "an earlier line");
}

void Results::require_same(const Entry& one, const Entry& other, const Key& key, const std::string& where,
                           const std::string& elsewhere) {
  if (one.state != RunState::done || one.value == other.value) return;
  const auto& [model, seed, experiment, metric] = key;
  throw InputError(
      {where}, Rule::conflict,
      text_of(metric, " of the model ", model, ", seed ", seed, ", is ", fmt::format("{}", one.value),
              " here and ", fmt::format("{}", other.value), " in ", elsewhere, ". Remove one of them."));
}

Results::Key Results::key_of(const Run& run, const PaperTable& table, RunState state) {
  return {table.rows[run.row].model, run.seed, run.experiment,
          state == RunState::done ? table.metric : std::string()};
}

std::string Results::line_of(const Key& key, const Entry& entry) {
  const auto& [model, seed, experiment, metric] = key;
  Json line = {
      {"model", model}, {"seed", seed}, {"experiment", experiment}, {"state", sweep::name_of(entry.state)}};
  if (entry.state == RunState::done) {
    line["metric"] = metric;
    line["value"] = entry.value;
    line["params"] = entry.params;
    line["seconds"] = std::round(entry.seconds * 10) / 10;
  } else {
    line["message"] = entry.message;
  }
  line["date"] = entry.date;
  line["machine"] = entry.machine;
  line["version"] = entry.version;
  if (entry.arithmetic > 0) line["arithmetic"] = entry.arithmetic;
  return line.dump() + "\n";
}

void Results::fill(std::vector<Run>& runs, const PaperTable& table) const {
  for (Run& run : runs) {
    if (run.state == RunState::done || run.state == RunState::diverged) continue;
    auto found = entries_.find(key_of(run, table, RunState::done));
    if (found == entries_.end()) found = entries_.find(key_of(run, table, RunState::diverged));
    if (found == entries_.end()) continue;
    const Entry& entry = found->second;
    run.state = entry.state;
    run.value = entry.value;
    run.seconds = entry.seconds;
    if (run.params == 0) run.params = entry.params;  // else counted by the experiment's file
    run.arithmetic = entry.arithmetic;
    run.message = entry.message;
    run.date = entry.date;
    run.machine = entry.machine;
  }
}

std::string Results::others(const std::vector<Run>& runs, const PaperTable& table) const {
  std::set<std::string> models;
  std::set<std::pair<std::string, std::string>> experiments;
  std::set<std::tuple<std::string, std::string, std::int64_t>> seeds;
  for (const Run& run : runs) {
    const std::string& model = table.rows[run.row].model;
    models.insert(model);
    experiments.emplace(model, run.experiment);
    seeds.emplace(model, run.experiment, run.seed);
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

void Results::add(const std::vector<Run>& runs, const PaperTable& table) {
  const FolderLock lock(file_.parent_path());
  read();
  bool grown = false;
  for (const Run& run : runs) {
    if (run.state != RunState::done && run.state != RunState::diverged) continue;
    const Key key = key_of(run, table, run.state);
    const Entry entry{run.state, run.value,   run.seconds, run.params, run.arithmetic,
                      run.date,  run.machine, kVersion,    run.message};
    const auto [found, is_new] = entries_.try_emplace(key, entry);
    if (!is_new) require_same(found->second, entry, key, file_.string(), run.folder.string());
    grown |= is_new;
  }
  // A new file is written even if it is empty, so that a wrong path is an error before the training.
  if (!grown && fs::exists(file_)) return;
  std::string text;
  for (const auto& [key, entry] : entries_) text += line_of(key, entry);
  sweep::write_results_file(file_, text);
}

}  // namespace lagtape::table
