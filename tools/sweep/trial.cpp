#include "lagtape/tools/sweep/trial.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_map>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/json_file.h"
#include "lagtape/core/json/problem_json.h"
#include "lagtape/tools/analysis/comparison.h"
#include "lagtape/tools/train/files/json_lines.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape::sweep {

namespace fs = std::filesystem;

namespace {

fs::path end_file(const Trial& trial) { return trial.folder.string() + ".end.json"; }
/// The note of a table's training that diverged, by lagtape 0.1.
fs::path divergence_file(const Trial& trial) { return trial.folder / "diverged.txt"; }

double number_at(const Json& json, const std::string& pointer) {
  const Json* found = json.find_pointer(pointer);
  return found != nullptr && found->is_number() ? found->get<double>() : std::nan("");
}

constexpr Option kSummaryRows[] = {
    option<&Trial::params>("params", at_least(0), "number of parameters"),
    option<&Trial::arithmetic>("arithmetic", at_least(0), "number of lagtape's arithmetic"),
};
constexpr Option kNoteRows[] = {
    required<&Trial::state>("state", kStates, "how the trial ended"),
    required<&Trial::message>("message", "why it ended so"),
};

/// Reads the options that a trial takes from a JSON file, and returns all of it.
Json read_rows(const fs::path& file, const OptionTable& rows, Trial& trial) {
  Json json = read_json(file);
  JsonErrors errors;
  JsonReader reader(json, "", errors);
  read_options(reader, rows, trial);
  errors.raise(file.string());
  return json;
}

void read_summary(Trial& trial, const Plan& plan, const fs::path& file) {
  const Json summary = read_rows(file, kSummaryRows, trial);
  const std::string place = text_of("/", plan.split, "/", plan.metric);
  if (summary.find_pointer(place) == nullptr) {
    throw InputError({.file = file.string(), .pointer = place}, Rule::missing,
                     text_of("is missing, by which runs are compared. Does the task have a ",
                             plan.split == "test" ? "test" : "validation", " set?"));
  }
  trial.value = number_at(summary, place);
  trial.loss = number_at(summary, "/valid/loss");
  trial.seconds = number_at(summary, "/seconds");
}

/// The day on which a file was last written.
std::string date_of(const fs::path& file) {
  const auto time = std::chrono::file_clock::to_sys(fs::last_write_time(file)).time_since_epoch();
  return fmt::format("{:%Y-%m-%d}",
                     fmt::gmtime(std::chrono::duration_cast<std::chrono::seconds>(time).count()));
}

}  // namespace

std::vector<Trial> trials_of(std::span<const std::size_t> rows, std::int64_t first_seed, std::int64_t seeds,
                             const std::function<std::string(std::size_t row, std::int64_t seed)>& folder) {
  std::vector<Trial> trials;
  for (std::int64_t i = 0; i < seeds; ++i)
    for (const std::size_t row : rows)
      trials.push_back({.row = row, .seed = first_seed + i, .folder = folder(row, first_seed + i)});
  return trials;
}

bool is_better(const Plan& plan, const Score& score, const Score& than) {
  const bool is_tie = score.value == than.value && is_rankable(plan.larger_is_better, score.value);
  return is_tie ? score.loss < than.loss : lagtape::is_better(plan.larger_is_better, score.value, than.value);
}

std::vector<Score> best_so_far(const Trial& trial, const Plan& plan) {
  std::vector<Score> scores;
  Score best;
  for_each_json_line(RunFolder(trial.folder).metrics_file(), [&](const Json& row, const std::string&) {
    const Score score{number_at(row, "/valid_" + plan.metric), number_at(row, "/valid_loss")};
    if (is_better(plan, score, best)) best = score;
    scores.push_back(best);
  });
  return scores;
}

void look_at(Trial& trial, const Plan& plan) {
  const RunFolder folder(trial.folder);
  const fs::path summary = folder.summary_file(), note = end_file(trial), old_note = divergence_file(trial);
  for (const fs::path& path : {trial.folder, note, old_note}) refuse_link(path);
  trial.state = folder.can_resume() ? RunState::unfinished : RunState::missing;
  trial.message.clear();
  trial.problems.clear();
  if (plan.split == "valid") {  // no other is measured at every evaluation
    const std::vector<Score> scores = best_so_far(trial, plan);
    const Score best = scores.empty() ? Score() : scores.back();
    trial.evaluations = std::ssize(scores);
    trial.value = best.value;
    trial.loss = best.loss;
  }
  // Resuming removes the summary, so a summary is later than a note.
  if (fs::exists(summary)) {
    trial.state = RunState::done;
    read_summary(trial, plan, summary);
    trial.date = date_of(summary);
  } else if (fs::exists(note)) {
    const Json json = read_rows(note, kNoteRows, trial);
    if (json.contains("problems")) trial.problems = problems_in(json, note.string());
    trial.date = date_of(note);
  } else if (fs::exists(old_note)) {
    trial.state = RunState::diverged;
    trial.message = read_file(old_note);
    trial.date = date_of(old_note);
  }
}

void end(Trial& trial, RunState state, const std::string& message) {
  trial.state = state;
  trial.message = message;
  Json note = json_of(kNoteRows, trial);
  if (!trial.problems.empty()) note.update(json_of(trial.problems));
  write_file_atomically(end_file(trial), note.dump() + "\n", Links::refused);
}

void begin_again(Trial& trial) {
  remove_temporaries_of(end_file(trial));
  for (const fs::path& note : {end_file(trial), divergence_file(trial)})
    if (fs::exists(note)) fs::remove(note);
  trial.state = RunState::unfinished;
  trial.message.clear();
  trial.problems.clear();
}

std::vector<Problem> problems_of(std::span<const Trial> trials,
                                 const std::function<std::string(const Trial&)>& name) {
  struct Found {
    Problem problem;
    std::string first;
    std::size_t others = 0;
  };
  std::vector<Found> found;
  std::unordered_map<std::string, std::size_t> known;
  for (const Trial& trial : trials) {
    if (trial.state != RunState::failed) continue;
    // A note of an older version has a message alone.
    const std::vector<Problem> own =
        trial.problems.empty() ? std::vector<Problem>{{.statement = trial.message}} : trial.problems;
    for (const Problem& problem : own) {
      const auto [number, is_new] = known.emplace(json_of(std::vector{problem}).dump(), found.size());
      if (is_new)
        found.push_back({problem, name(trial)});
      else
        ++found[number->second].others;
    }
  }
  std::vector<Problem> problems;
  for (const auto& [problem, first, others] : found) {
    const std::string more = others > 0 ? text_of(" and ", others, " more") : "";
    problems.push_back(problem.within({.item = first + more}));
  }
  return problems;
}

void write_results_file(const fs::path& file, const std::string& lines, Links links) {
  remove_temporaries_of(file);
  write_file_atomically(file, lines, links);
}

std::int64_t Outcome::count(RunState state) const {
  return std::ranges::count(trials, state, [](const Trial* trial) { return trial->state; });
}

std::vector<Outcome> outcomes_of(const Plan& plan, std::size_t rows, std::span<const Trial> trials,
                                 std::span<const Trial> further) {
  std::vector<Outcome> outcomes(rows);
  for (const std::span<const Trial> part : {trials, further})
    for (const Trial& trial : part) outcomes[trial.row].trials.push_back(&trial);
  for (Outcome& outcome : outcomes) {
    std::vector<double> losses;
    for (const Trial* trial : outcome.trials) {
      outcome.params = std::max(outcome.params, trial->params);
      if (trial->state != RunState::done) continue;
      outcome.values.push_back(trial->value * plan.scale);
      losses.push_back(trial->loss);
      outcome.seconds += trial->seconds;
    }
    if (outcome.values.empty()) continue;
    const auto [mean, deviation] = mean_and_deviation(outcome.values);
    outcome.mean = mean;
    if (outcome.values.size() > 1) outcome.deviation = deviation;
    outcome.loss = mean_and_deviation(losses).first;
    outcome.seconds /= static_cast<double>(outcome.values.size());
    const auto [least, most] = std::ranges::minmax(outcome.values);
    outcome.best = plan.larger_is_better ? most : least;
  }
  return outcomes;
}

}  // namespace lagtape::sweep
