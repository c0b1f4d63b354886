#include "lagtape/tools/sweep/search/search.h"

#include <algorithm>
#include <span>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/tools/sweep/search/halving.h"
#include "lagtape/tools/sweep/search/search_folder.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape::search {

namespace fs = std::filesystem;

namespace {

std::vector<Trial> joined(std::vector<Trial> first, const std::vector<Trial>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Whether all runs have ended, with a result or by a fault in their settings.
bool have_ended(const std::vector<Trial>& trials) {
  return std::ranges::all_of(
      trials, [](const Trial& trial) { return trial.has_ended() && !sweep::has_crashed(trial); });
}

/// Trains those of the runs from `first` on that are not settled and that no other process holds. `before` are runs of
/// this search that come before them in the results, of which these are repetitions, and `total` is the number of runs
/// that there are to be.
void train(const SearchPlan& plan, const fs::path& out, sweep::RunnerOptions options,
           std::vector<Trial>& trials, std::size_t first, const std::vector<Trial>& before, std::size_t total,
           SearchResult& result) {
  Halving halving(plan);
  sweep::Training training{.claims = out / "claims",
                           .arguments =
                               [&](const Trial& trial) {
                                 auto arguments =
                                     sweep::arguments_of(plan.experiment, assignments(plan, trial.values));
                                 arguments.emplace_back("--quiet");
                                 return arguments;
                               },
                           .look = [&](Trial& trial) { look_at(trial, plan); },
                           .awaits_others = plan.method == Method::tpe && before.empty()};
  if (plan.method == Method::halving && before.empty())
    training.verdict = [&](const Trial& trial) { return halving.verdict(trial, trials); };
  options.threads = 1;
  options.ended = [&, ended = options.ended](const Trial& trial, std::size_t number, std::size_t of) {
    write_results(plan, out, joined(before, trials));
    if (ended) ended(trial, number, of);
  };
  const auto settled = std::ranges::count_if(std::span(trials).first(first), &Trial::is_settled);
  result.elsewhere += sweep::train_all(std::span(trials).subspan(first), static_cast<std::size_t>(settled),
                                       total, training, options);
  for (Trial& trial : trials)
    if (!trial.has_ended()) look_at(trial, plan);
}

/// The best runs without regard to repetitions, of those whose value says how good they are.
std::vector<const Trial*> best_first(const sweep::Plan& plan, const std::vector<Trial>& trials) {
  std::vector<const Trial*> sorted;
  for (const Trial& trial : trials)
    if (trial.state == RunState::done && is_rankable(plan.larger_is_better, trial.value))
      sorted.push_back(&trial);
  std::ranges::stable_sort(
      sorted, [&](const Trial* a, const Trial* b) { return is_better(plan, a->score(), b->score()); });
  return sorted;
}

/// The repetitions of the best runs, once all runs have ended, and what the folder has of others.
std::vector<Trial> repetitions_in(const SearchPlan& plan, const fs::path& out,
                                  const std::vector<Trial>& trials) {
  std::vector<std::size_t> best;
  if (have_ended(trials))
    for (const Trial* trial : best_first(plan, trials))
      if (std::ssize(best) < plan.again.best) best.push_back(trial->row);
  return find_repetitions(plan, out, trials, best);
}

}  // namespace

SearchResult look_at_search(const SearchPlan& plan, const fs::path& out) {
  SearchResult result{.trials = find_trials(plan, out)};
  result.repetitions = repetitions_in(plan, out, result.trials);
  return result;
}

SearchResult search(const SearchPlan& plan, const fs::path& out, const sweep::RunnerOptions& options) {
  begin_folder(plan, out);
  SearchResult result{.trials = find_trials(plan, out)};
  for (std::size_t first = 0; first < result.trials.size();) {
    const std::size_t known = result.trials.size();
    train(plan, out, options, result.trials, first, {},
          plan.method == Method::tpe ? static_cast<std::size_t>(plan.runs) : known, result);
    first = known;
    if (have_ended(result.trials)) draw_more(plan, out, result.trials);
  }
  result.repetitions = repetitions_in(plan, out, result.trials);
  train(plan, out, options, result.repetitions, 0, result.trials, result.repetitions.size(), result);
  write_results(plan, out, joined(result.trials, result.repetitions));
  const std::vector<const Trial*> ranked = ranking(plan, result);
  if (!ranked.empty()) link_best(out, *ranked.front());
  return result;
}

void raise_failures(const SearchPlan& plan, const SearchResult& result) {
  const auto name = [](const Trial& trial) { return "run " + trial.folder.filename().string(); };
  std::string crashes;
  for (const std::vector<Trial>* trials : {&result.trials, &result.repetitions})
    for (const Trial& trial : *trials)
      if (sweep::has_crashed(trial)) crashes += text_of("\n", name(trial), ": ", trial.message);
  if (!crashes.empty()) throw Error("runs failed, and the same command tries them again:" + crashes);
  const auto count = [&](RunState state) { return std::ranges::count(result.trials, state, &Trial::state); };
  const auto failed = count(RunState::failed), diverged = count(RunState::diverged);
  const auto runs = std::ssize(result.trials);
  if (runs > 0 && count(RunState::done) > 0 && best_first(plan, result.trials).empty() &&
      have_ended(result.trials))
    throw InputError(
        {.file = plan.file.string(), .pointer = "/metric"}, Rule::not_finite,
        text_of(plan.metric, " is not finite on valid in any run. Search by another one, such as \"loss\"."));
  if (runs == 0 || failed + diverged < runs) return;
  if (failed == runs) throw InputError(sweep::problems_of(result.trials, name));
  std::string counts;
  if (failed > 0) counts = text_of(failed, " failed");
  if (diverged > 0) counts += text_of(counts.empty() ? "" : ", ", diverged, " diverged");
  const Trial& first = result.trials.front();
  const std::string message =
      text_of("no run has a result: ", counts, "; ", name(first), ": ", first.message);
  if (diverged == runs) throw DivergenceError(message);
  throw Error(message);
}

std::vector<sweep::Outcome> outcomes_of(const sweep::Plan& plan, const SearchResult& result) {
  return sweep::outcomes_of(plan, result.trials.size(), result.trials, result.repetitions);
}

std::vector<const Trial*> ranking(const sweep::Plan& plan, const SearchResult& result) {
  std::vector<const Trial*> sorted = best_first(plan, result.trials);
  const std::vector<sweep::Outcome> outcomes = outcomes_of(plan, result);
  const auto outcome = [&](const Trial* trial) -> const sweep::Outcome& { return outcomes[trial->row]; };
  const auto others = std::stable_partition(
      sorted.begin(), sorted.end(), [&](const Trial* trial) { return outcome(trial).values.size() > 1; });
  std::stable_sort(sorted.begin(), others, [&](const Trial* a, const Trial* b) {
    return is_better(plan, {outcome(a).mean, outcome(a).loss}, {outcome(b).mean, outcome(b).loss});
  });
  return sorted;
}

}  // namespace lagtape::search
