#include "lagtape/tools/table/results.h"

#include <cmath>
#include <sstream>

#include "lagtape/core/io/file.h"
#include "lagtape/core/json_reader.h"
#include "lagtape/tools/version.h"

namespace lagtape::table {

namespace fs = std::filesystem;

Results::Results(fs::path file) : file_(std::move(file)) {
  if (!fs::exists(file_)) return;
  std::istringstream lines(read_file(file_));
  int number = 0;
  for (std::string line; std::getline(lines, line);)
    read_line(line, concat(file_.string(), " line ", ++number));
}

void Results::read_line(const std::string& line, const std::string& where) {
  const Json document = parse_json(line, where);
  JsonErrors errors;
  JsonReader reader(document, "", errors);
  Key key;
  Entry entry;
  std::string state = name_of(RunState::done);
  reader.required("model", key.first.first, "MODEL.json of the table's folder");
  reader.required("seed", key.first.second, at_least(0), "of the run");
  reader.required("experiment", key.second, "number of the experiment");
  reader.choice("state", state, {name_of(RunState::done), name_of(RunState::diverged)}, "how it ended");
  if (state == name_of(RunState::done)) {
    reader.required("metric", entry.metric, "what was measured, of the test set");
    reader.required("value", entry.value, {}, "of it, not scaled");
    reader.required("params", entry.params, at_least(0), "trained numbers");
    reader.required("seconds", entry.seconds, at_least(0), "that the run took");
  } else {
    entry.state = RunState::diverged;
    reader.required("message", entry.message, "where it diverged");
  }
  reader.required("date", entry.date, "of its end");
  reader.required("machine", entry.machine, "that it ran on");
  reader.required("version", entry.version, "of lagtape");
  reader.finish();
  errors.raise(where);
  entries_[key] = entry;
}

std::string Results::line_of(const Key& key, const Entry& entry) {
  Json line = {{"model", key.first.first},
               {"seed", key.first.second},
               {"experiment", key.second},
               {"state", name_of(entry.state)}};
  if (entry.state == RunState::done) {
    line["metric"] = entry.metric;
    line["value"] = entry.value;
    line["params"] = entry.params;
    line["seconds"] = std::round(entry.seconds * 10) / 10;
  } else {
    line["message"] = entry.message;
  }
  line["date"] = entry.date;
  line["machine"] = entry.machine;
  line["version"] = entry.version;
  return line.dump() + "\n";
}

void Results::fill(std::vector<Run>& runs, const Plan& plan) const {
  for (Run& run : runs) {
    if (run.state == RunState::done || run.state == RunState::diverged) continue;
    const auto found = entries_.find({{plan.rows[run.row].model, run.seed}, run.experiment});
    if (found == entries_.end()) continue;
    const Entry& entry = found->second;
    if (entry.state == RunState::done && entry.metric != plan.metric) continue;
    run.state = entry.state;
    run.value = entry.value * plan.scale;
    run.seconds = entry.seconds;
    run.params = entry.params;
    run.message = entry.message;
    run.date = entry.date;
    run.machine = entry.machine;
  }
}

void Results::add(const std::vector<Run>& runs, const Plan& plan) {
  bool grown = false;
  for (const Run& run : runs) {
    if (run.state != RunState::done && run.state != RunState::diverged) continue;
    const Key key{{plan.rows[run.row].model, run.seed}, run.experiment};
    grown |= entries_
                 .try_emplace(key, Entry{run.state, plan.metric, run.value / plan.scale, run.seconds,
                                         run.params, run.date, run.machine, kVersion, run.message})
                 .second;
  }
  if (!grown) return;
  std::string text;
  for (const auto& [key, entry] : entries_) text += line_of(key, entry);
  write_file_atomically(file_, text);
}

}  // namespace lagtape::table
