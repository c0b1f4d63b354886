#include "lagtape/tools/sweep/search/trial.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>
#include <unordered_set>
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
  trial.loss = number_at(summary, "/valid/loss");
  trial.seconds = number_at(summary, "/seconds");
  if (!summary.contains("valid") || !summary.at("valid").contains(plan.metric)) {
    throw InputError(
        {file.string()}, Rule::missing,
        text_of("/valid/", plan.metric,
                ": is missing. A search compares runs on sequences for validation: does the task have any?"));
  }
}

}  // namespace

bool is_better(const SearchPlan& plan, const Score& score, const Score& than) {
  const bool is_tie = score.value == than.value && is_rankable(plan.larger_is_better, score.value);
  return is_tie ? score.loss < than.loss : lagtape::is_better(plan.larger_is_better, score.value, than.value);
}

std::vector<Score> best_so_far(const Trial& trial, const SearchPlan& plan) {
  std::vector<Score> scores;
  Score best;
  for_each_json_line(RunFolder(trial.folder).metrics_file(), [&](const Json& row, const std::string&) {
    const Score score{number_at(row, "/valid_" + plan.metric), number_at(row, "/valid_loss")};
    if (is_better(plan, score, best)) best = score;
    scores.push_back(best);
  });
  return scores;
}

void look_at(Trial& trial, const SearchPlan& plan) {
  for (const fs::path& path : {trial.folder, end_file(trial)}) refuse_link(path);
  const RunFolder folder(trial.folder);
  const std::vector<Score> scores = best_so_far(trial, plan);
  trial.evaluations = std::ssize(scores);
  std::tie(trial.value, trial.loss) = scores.empty() ? std::pair(std::nan(""), std::nan(""))
                                                     : std::pair(scores.back().value, scores.back().loss);
  trial.state = folder.can_resume() ? RunState::unfinished : RunState::missing;
  if (fs::exists(folder.summary_file())) {
    trial.state = RunState::done;
    read_summary(trial, plan, folder.summary_file());
  } else if (const fs::path file = end_file(trial); fs::exists(file)) {
    const Json note = parse_json(read_file(file), file.string());
    if (const RunState state = sweep::state_called(note.value("state", "")); state != RunState::missing)
      trial.state = state;
    trial.message = note.value("message", "");
  }
}

void end(Trial& trial, RunState state, const std::string& message) {
  write_file_atomically(end_file(trial),
                        Json({{"state", sweep::name_of(state)}, {"message", message}}).dump() + "\n",
                        Links::refused);
  trial.state = state;
  trial.message = message;
}

void begin_again(Trial& trial) {
  remove_temporaries_of(end_file(trial));
  fs::remove(end_file(trial));
  trial.state = RunState::unfinished;
  trial.message.clear();
}

std::vector<Trial> find_trials(const SearchPlan& plan, const fs::path& out) {
  // Of very many runs that have not begun, none is looked for by itself.
  std::error_code error;
  const std::vector<std::string> entries = entries_of(out / "runs", error);
  std::unordered_set<std::string> begun;
  for (const std::string& entry : entries) begun.insert(entry.substr(0, entry.find('.')));
  std::vector<Trial> trials;
  for (const Values& values : plan.draws) {
    trials.push_back(trial_in(out, trials.size(), values, -1));
    if (begun.contains(trials.back().folder.filename().string())) look_at(trials.back(), plan);
  }
  if (plan.method != Method::tpe || std::ssize(trials) < plan.startup) return trials;
  while (std::ssize(trials) < plan.runs && fs::exists(draw_file(out, trials.size()))) {
    const fs::path file = draw_file(out, trials.size());
    Values values;
    const Json drawn = parse_json(read_file(file), file.string());
    for (const auto& [pointer, value] : drawn.items()) values.emplace_back(pointer, value);
    trials.push_back(trial_of(plan, out, trials.size(), std::move(values)));
  }
  return trials;
}

fs::path draw_file(const fs::path& out, std::size_t number) {
  return trial_in(out, number, {}, -1).folder.string() + ".draw.json";
}

Trial trial_of(const SearchPlan& plan, const fs::path& out, std::size_t number, Values values) {
  Trial trial = trial_in(out, number, std::move(values), -1);
  look_at(trial, plan);
  return trial;
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
  const auto whole_number = [](std::string_view digits) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size() ? number : -1;
  };
  std::vector<Trial> found;
  std::error_code error;
  for (const std::string& name : entries_of(out / "runs", error)) {
    const std::size_t split = name.find(kSeed);
    if (split == std::string::npos) continue;
    const std::int64_t number = whole_number(std::string_view(name).substr(0, split));
    const std::int64_t seed = whole_number(std::string_view(name).substr(split + kSeed.size()));
    if (number < 0 || number >= std::ssize(trials) || seed < 0) continue;
    const auto place = static_cast<std::size_t>(number);
    Trial trial = trial_in(out, place, trials[place].values, seed);
    if (trial.folder.filename() != name) continue;
    look_at(trial, plan);
    if (trial.state == RunState::done) found.push_back(std::move(trial));
  }
  std::ranges::sort(found, {}, [](const Trial& trial) { return std::pair(trial.number, trial.seed); });
  return found;
}

Json json_of_values(const Values& values) {
  Json settings = Json::object();
  for (const auto& [pointer, value] : values) settings[pointer] = value;
  return settings;
}

Json json_of(const SearchPlan& plan, const Trial& trial) {
  Json line = {{"run", trial.folder.filename().string()},
               {"state", sweep::name_of(trial.state)},
               {"settings", json_of_values(trial.values)}};
  if (trial.seed >= 0) line["seed"] = trial.seed;
  line[plan.metric] = std::isfinite(trial.value) ? Json(trial.value) : Json();
  if (plan.metric != "loss") line["loss"] = std::isfinite(trial.loss) ? Json(trial.loss) : Json();
  line["evaluations"] = trial.evaluations;
  if (trial.state == RunState::done) line["seconds"] = trial.seconds;
  if (!trial.message.empty()) line["message"] = trial.message;
  return line;
}

}  // namespace lagtape::search
