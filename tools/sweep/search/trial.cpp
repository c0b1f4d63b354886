#include "lagtape/tools/sweep/search/trial.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/folder.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/train/files/json_lines.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape::search {

namespace fs = std::filesystem;

namespace {

constexpr TrialState kStates[] = {TrialState::missing, TrialState::unfinished, TrialState::done,
                                  TrialState::stopped, TrialState::diverged,   TrialState::failed};

/// Says that a run ended without a summary, and why. It stands beside the folder, which may not even exist.
fs::path end_file(const Trial& trial) { return trial.folder.string() + ".end.json"; }

Trial trial_in(const fs::path& out, std::size_t number, Values values, std::int64_t seed) {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 4 ? 4 - digits.size() : 0, '0');
  if (seed >= 0) digits += text_of("-seed", seed);
  Trial trial;
  trial.number = number;
  trial.seed = seed;
  trial.values = std::move(values);
  trial.folder = out / "runs" / digits;
  return trial;
}

double number_at(const Json& json, const std::string& pointer) {
  const Json* found = json.find_pointer(pointer);
  return found != nullptr && found->is_number() ? found->get<double>() : std::nan("");
}

void read_summary(Trial& trial, const SearchPlan& plan, const fs::path& file) {
  const Json summary = parse_json(read_file(file), file.string());
  trial.value = number_at(summary, "/valid/" + plan.metric);
  trial.seconds = number_at(summary, "/seconds");
  if (!summary.contains("valid") || !summary.at("valid").contains(plan.metric)) {
    throw InputError(text_of(file.string(), ": /valid/", plan.metric,
                             ": is missing. A search compares runs on ",
                             "sequences for validation: does the task have any?"));
  }
}

}  // namespace

const char* name_of(TrialState state) {
  switch (state) {
    case TrialState::missing: return "missing";
    case TrialState::unfinished: return "unfinished";
    case TrialState::done: return "done";
    case TrialState::stopped: return "stopped";
    case TrialState::diverged: return "diverged";
    case TrialState::failed: return "failed";
  }
  return "";
}

bool is_better(const SearchPlan& plan, double value, double than) {
  return lagtape::is_better(plan.larger_is_better, value, than);
}

fs::path log_file(const Trial& trial) { return trial.folder.string() + ".log"; }

bool has_ended(const Trial& trial) {
  return trial.state != TrialState::missing && trial.state != TrialState::unfinished;
}

std::vector<double> best_so_far(const Trial& trial, const SearchPlan& plan) {
  std::vector<double> values;
  double best = std::nan("");
  for_each_json_line(RunFolder(trial.folder).metrics_file(), [&](const Json& row, const std::string&) {
    const double value = number_at(row, "/valid_" + plan.metric);
    if (is_better(plan, value, best)) best = value;
    values.push_back(best);
  });
  return values;
}

void look_at(Trial& trial, const SearchPlan& plan) {
  for (const fs::path& path : {trial.folder, end_file(trial)}) refuse_link(path);
  const RunFolder folder(trial.folder);
  const std::vector<double> values = best_so_far(trial, plan);
  trial.evaluations = std::ssize(values);
  trial.value = values.empty() ? std::nan("") : values.back();
  trial.state = folder.can_resume() ? TrialState::unfinished : TrialState::missing;
  if (fs::exists(folder.summary_file())) {
    trial.state = TrialState::done;
    read_summary(trial, plan, folder.summary_file());
  } else if (const fs::path file = end_file(trial); fs::exists(file)) {
    const Json note = parse_json(read_file(file), file.string());
    for (const TrialState state : kStates)
      if (note.value("state", "") == name_of(state)) trial.state = state;
    trial.message = note.value("message", "");
  }
}

void end(Trial& trial, TrialState state, const std::string& message) {
  write_file_atomically(
      end_file(trial), Json({{"state", name_of(state)}, {"message", message}}).dump() + "\n", Links::refused);
  trial.state = state;
  trial.message = message;
}

void begin_again(Trial& trial) {
  fs::remove(end_file(trial));
  trial.state = TrialState::unfinished;
  trial.message.clear();
}

std::vector<Trial> find_trials(const SearchPlan& plan, const fs::path& out) {
  std::vector<Trial> trials;
  for (Values& values : candidates(plan)) {
    trials.push_back(trial_in(out, trials.size(), std::move(values), -1));
    look_at(trials.back(), plan);
  }
  return trials;
}

std::vector<Trial> repetitions(const SearchPlan& plan, const Trial& trial, const fs::path& out) {
  const std::int64_t own = plan.identity.at("experiment").value("seed", std::int64_t{0});
  std::vector<Trial> trials;
  for (std::int64_t i = 1; i <= plan.seeds; ++i) {
    trials.push_back(trial_in(out, trial.number, trial.values, own + i));
    look_at(trials.back(), plan);
  }
  return trials;
}

std::vector<Trial> finished_repetitions(const SearchPlan& plan, const std::vector<Trial>& trials,
                                        const fs::path& out) {
  constexpr std::string_view kSeed = "-seed";
  const auto number_in = [](std::string_view digits) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size() ? number : -1;
  };
  std::vector<Trial> found;
  std::error_code error;
  for (const std::string& name : entries_of(out / "runs", error)) {
    const std::size_t split = name.find(kSeed);
    if (split == std::string::npos) continue;
    const std::int64_t number = number_in(std::string_view(name).substr(0, split));
    const std::int64_t seed = number_in(std::string_view(name).substr(split + kSeed.size()));
    if (number < 0 || number >= std::ssize(trials) || seed < 0) continue;
    const auto place = static_cast<std::size_t>(number);
    Trial trial = trial_in(out, place, trials[place].values, seed);
    if (trial.folder.filename() != name) continue;
    look_at(trial, plan);
    if (trial.state == TrialState::done) found.push_back(std::move(trial));
  }
  std::ranges::sort(found, {}, [](const Trial& trial) { return std::pair(trial.number, trial.seed); });
  return found;
}

Json json_of(const SearchPlan& plan, const Trial& trial) {
  Json settings = Json::object();
  for (const auto& [pointer, value] : trial.values) settings[pointer] = value;
  Json line = {
      {"run", trial.folder.filename().string()}, {"state", name_of(trial.state)}, {"settings", settings}};
  if (trial.seed >= 0) line["seed"] = trial.seed;
  line[plan.metric] = std::isfinite(trial.value) ? Json(trial.value) : Json();
  line["evaluations"] = trial.evaluations;
  if (trial.state == TrialState::done) line["seconds"] = trial.seconds;
  if (!trial.message.empty()) line["message"] = trial.message;
  return line;
}

}  // namespace lagtape::search
