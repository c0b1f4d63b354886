#include "lagtape/tools/sweep/search/search.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/io/folder_lock.h"
#include "lagtape/tools/analysis/comparison.h"
#include "lagtape/tools/sweep/pool.h"
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

/// Whether a run is not tried again. One that failed may have lacked a permission or a file that is there now.
bool is_settled(const Trial& trial) { return trial.has_ended() && trial.state != RunState::failed; }

bool have_ended(const std::vector<Trial>& trials) { return std::ranges::all_of(trials, &Trial::has_ended); }

/// Whether another training holds the folder of a run: that of a search that was killed, which is still saving its
/// state.
bool is_held(const Trial& trial) { return fs::exists(trial.folder) && !FolderLock::at_once(trial.folder); }

std::vector<std::string> command_of(const SearchPlan& plan, const Trial& trial) {
  std::vector<std::string> arguments = plan.experiment.arguments();
  arguments.insert(arguments.begin(), "train");
  for (const std::string& assignment : assignments(plan, trial.values))
    arguments.insert(arguments.end(), {"--set", assignment});
  if (trial.seed >= 0) arguments.insert(arguments.end(), {"--seed", std::to_string(trial.seed)});
  arguments.insert(arguments.end(),
                   {"--out", trial.folder.string(), "--threads", "1", "--resume", "--quiet"});
  return arguments;
}

/// Notes how a training ended that is not done.
void note_end(Trial& trial, const sweep::Ending& ending, const std::string& verdict,
              std::vector<std::string>& failures) {
  if (ending.diverged()) {
    end(trial, RunState::diverged, ending.message());
  } else if (ending.refused()) {
    end(trial, RunState::failed, ending.message());
  } else if (!verdict.empty()) {
    end(trial, RunState::stopped, verdict);
  } else {
    failures.push_back(
        text_of("run ", trial.folder.filename().string(), ": ",
                ending.message().empty() ? text_of("ended with exit code ", ending.code) : ending.message()));
  }
}

/// Trains those of the runs from `first` on that have not ended, or failed before, and that no other process holds.
/// `before` are runs of this search that come before them in the results, and `total` is the number of runs that there
/// are to be.
void train(const SearchPlan& plan, const fs::path& out, const SearchOptions& options,
           std::vector<Trial>& trials, std::size_t first, const std::vector<Trial>& before, std::size_t total,
           SearchResult& result) {
  Halving halving(plan);
  std::map<const sweep::Run*, std::string> verdicts;
  auto ended = static_cast<std::size_t>(std::ranges::count_if(trials, is_settled));
  sweep::Pool pool{.jobs = options.jobs, .threads = options.jobs, .stop_requested = options.stop_requested};
  pool.begin = [&](sweep::Run& run, int) -> sweep::Turn {
    using Kind = sweep::Turn::Kind;
    auto& trial = static_cast<Trial&>(run);
    if (is_held(trial)) return {.kind = Kind::later};
    const fs::path claim = out / "claims" / trial.folder.filename();
    fs::create_directories(claim);
    std::optional<FolderLock> lock = FolderLock::at_once(claim);
    if (!lock && plan.method == Method::tpe && trial.seed < 0)
      return {.kind = Kind::later};  // its result is needed
    if (!lock) {
      ++result.elsewhere;
      return {.kind = Kind::leave_out};
    }
    look_at(trial, plan);  // another process may have ended it in the meantime
    if (is_settled(trial)) {
      ++ended;
      return {.kind = Kind::leave_out};
    }
    begin_again(trial);
    return {.arguments = command_of(plan, trial), .claim = std::move(lock)};
  };
  pool.ended = [&](sweep::Run& run, const sweep::Ending& ending) {
    auto& trial = static_cast<Trial&>(run);
    look_at(trial, plan);
    // As this search has the claim, another training there was begun by a search that was killed.
    if (trial.state != RunState::done && ending.refused() && ending.found_another()) return true;
    if (trial.state != RunState::done) note_end(trial, ending, verdicts[&run], result.failures);
    write_results(plan, out, joined(before, trials));
    if (options.ended) options.ended(trial, ++ended, total);
    return false;
  };
  if (plan.method == Method::halving)
    pool.is_hopeless = [&](const sweep::Run& run) {
      std::string& verdict = verdicts[&run];
      if (verdict.empty() && run.seed < 0) verdict = halving.verdict(static_cast<const Trial&>(run), trials);
      return !verdict.empty();
    };
  std::deque<sweep::Run*> waiting;
  for (Trial& trial : std::span(trials).subspan(first))
    if (!is_settled(trial)) waiting.push_back(&trial);
  if (const std::optional<std::size_t> running = sweep::train_all(std::move(waiting), pool))
    throw Interrupted(text_of("interrupted with ", ended, " of ", total, " runs ended, ", *running,
                              " saved in between. The same command goes on"));
  for (Trial& trial : trials)
    if (!trial.has_ended()) look_at(trial, plan);
}

/// The best runs without regard to repetitions, of those whose value says how good they are.
std::vector<const Trial*> best_first(const SearchPlan& plan, const std::vector<Trial>& trials) {
  std::vector<const Trial*> sorted;
  for (const Trial& trial : trials)
    if (trial.state == RunState::done && is_rankable(plan.larger_is_better, trial.value))
      sorted.push_back(&trial);
  std::ranges::stable_sort(
      sorted, [&](const Trial* a, const Trial* b) { return is_better(plan, a->score(), b->score()); });
  return sorted;
}

std::vector<Trial> repetitions_of_best(const SearchPlan& plan, const fs::path& out,
                                       const std::vector<Trial>& trials) {
  std::vector<Trial> all;
  std::vector<const Trial*> best = best_first(plan, trials);
  best.resize(std::min(best.size(), static_cast<std::size_t>(plan.best)));
  for (const Trial* trial : best) {
    for (Trial& repetition : repetitions(plan, *trial, out)) all.push_back(std::move(repetition));
  }
  return all;
}

/// The repetitions with those that were trained earlier, when other runs were the best.
std::vector<Trial> with_earlier(std::vector<Trial> repeated, const SearchPlan& plan, const fs::path& out,
                                const std::vector<Trial>& trials) {
  std::set<fs::path> known;
  for (const Trial& trial : repeated) known.insert(trial.folder);
  for (Trial& trial : finished_repetitions(plan, trials, out))
    if (!known.contains(trial.folder)) repeated.push_back(std::move(trial));
  return repeated;
}

}  // namespace

SearchResult look_at_search(const SearchPlan& plan, const fs::path& out) {
  SearchResult result{.trials = find_trials(plan, out)};
  if (have_ended(result.trials)) result.repetitions = repetitions_of_best(plan, out, result.trials);
  result.repetitions = with_earlier(std::move(result.repetitions), plan, out, result.trials);
  return result;
}

SearchResult search(const SearchPlan& plan, const fs::path& out, const SearchOptions& options) {
  begin_folder(plan, out);
  SearchResult result{.trials = find_trials(plan, out)};
  for (std::size_t first = 0; first < result.trials.size();) {
    const std::size_t known = result.trials.size();
    train(plan, out, options, result.trials, first, {},
          plan.method == Method::tpe ? static_cast<std::size_t>(plan.runs) : known, result);
    first = known;
    if (have_ended(result.trials)) draw_more(plan, out, result.trials);
  }
  if (have_ended(result.trials)) {
    result.repetitions = repetitions_of_best(plan, out, result.trials);
    train(plan, out, options, result.repetitions, 0, result.trials, result.repetitions.size(), result);
  }
  result.repetitions = with_earlier(std::move(result.repetitions), plan, out, result.trials);
  write_results(plan, out, joined(result.trials, result.repetitions));
  const std::vector<const Trial*> ranked = ranking(plan, result);
  if (!ranked.empty()) link_best(out, *ranked.front());
  return result;
}

void raise_failures(const SearchPlan& plan, const SearchResult& result) {
  if (!result.failures.empty()) {
    std::string message = text_of(result.failures.size(), " runs failed; the same command tries them again:");
    for (const std::string& failure : result.failures) message += "\n" + failure;
    throw Error(message);
  }
  const auto count = [&](RunState state) {
    return std::ranges::count(result.trials, state, [](const Trial& trial) { return trial.state; });
  };
  const auto failed = count(RunState::failed), diverged = count(RunState::diverged);
  const auto runs = std::ssize(result.trials);
  if (runs > 0 && count(RunState::done) > 0 && best_first(plan, result.trials).empty() &&
      have_ended(result.trials))
    throw InputError(
        {.file = plan.file.string(), .pointer = "/metric"}, Rule::not_finite,
        text_of(plan.metric,
                " is no finite number on valid in any run. Search by another one, such as \"loss\"."));
  if (runs == 0 || failed + diverged < runs) return;
  std::string counts;
  if (failed > 0) counts = text_of(failed, " failed");
  if (diverged > 0) counts += text_of(counts.empty() ? "" : ", ", diverged, " diverged");
  const Trial& first = result.trials.front();
  const std::string message = text_of("no run has a result: ", counts, "; run ",
                                      first.folder.filename().string(), ": ", first.message);
  if (failed == runs) throw InputError(message);
  if (diverged == runs) throw DivergenceError(message);
  throw Error(message);
}

std::vector<double> values_of(const SearchResult& result, const Trial& trial, double Trial::*number) {
  std::vector<double> values = {trial.*number};
  for (const Trial& repetition : result.repetitions)
    if (repetition.number == trial.number && repetition.state == RunState::done)
      values.push_back(repetition.*number);
  return values;
}

std::vector<const Trial*> ranking(const SearchPlan& plan, const SearchResult& result) {
  std::vector<const Trial*> sorted = best_first(plan, result.trials);
  std::map<const Trial*, Score> means;  // of those that were repeated
  for (const Trial* trial : sorted) {
    const std::vector<double> values = values_of(result, *trial);
    if (values.size() > 1)
      means[trial] = {mean_and_deviation(values).first,
                      mean_and_deviation(values_of(result, *trial, &Trial::loss)).first};
  }
  const auto others = std::stable_partition(sorted.begin(), sorted.end(),
                                            [&](const Trial* trial) { return means.contains(trial); });
  std::stable_sort(sorted.begin(), others,
                   [&](const Trial* a, const Trial* b) { return is_better(plan, means.at(a), means.at(b)); });
  return sorted;
}

}  // namespace lagtape::search
