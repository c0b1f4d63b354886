#include "lagtape/tools/sweep/search/searcher.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <list>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/io/folder_lock.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/sweep/jobs/child.h"
#include "lagtape/tools/sweep/search/halving.h"
#include "lagtape/tools/sweep/search/search_folder.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/score/metrics.h"

namespace lagtape::search {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kPause(20);
constexpr int kWrongInput = 2, kDiverged = 3;

std::vector<Trial> joined(std::vector<Trial> first, const std::vector<Trial>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Trains runs in processes of their own, as many at a time as there are jobs.
class Searcher {
 public:
  Searcher(const SearchPlan& plan, const fs::path& out, const SearchOptions& options)
      : plan_(plan), out_(out), options_(options), halving_(plan) {}

  /// Trains those of the runs that have not ended, or failed before, and that no other process holds. `before` are runs of this search
  /// that stand above them in the results.
  void train(std::vector<Trial>& trials, const std::vector<Trial>& before = {}) {
    all_ = &trials;
    before_ = before;
    ended_ = static_cast<std::size_t>(std::ranges::count_if(trials, is_settled));
    for (Trial& trial : trials) waiting_.push_back(&trial);
    while (!waiting_.empty() || !trainings_.empty()) {
      if (options_.stop_requested()) stop();
      for (std::size_t i = waiting_.size(); i > 0 && std::ssize(trainings_) < options_.jobs; --i) {
        Trial& trial = *waiting_.front();
        waiting_.pop_front();
        if (is_orphaned(trial)) {
          waiting_.push_back(&trial);
        } else {
          start(trial);
        }
      }
      collect();
      judge();
      std::this_thread::sleep_for(kPause);
    }
  }

  std::size_t elsewhere() const { return elsewhere_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  struct Training {
    Trial* trial;
    FolderLock claim;
    std::size_t log_start;
    jobs::Child child;
    std::string verdict = {};  ///< why it was told to stop
  };

  /// Whether a run is not tried again. One that failed may have lacked a permission or a file that is there now.
  static bool is_settled(const Trial& trial) { return has_ended(trial) && trial.state != TrialState::failed; }

  /// Whether the training of a search that was killed is still saving its state.
  static bool is_orphaned(const Trial& trial) {
    return !is_settled(trial) && fs::exists(trial.folder) && !FolderLock::at_once(trial.folder);
  }

  /// Whether a training ended because another one held its folder. As this search has the claim, that one was begun
  /// by a search that was killed, and had not come as far as to be seen by `is_orphaned`.
  static bool is_taken(const std::string& message) {
    return message.ends_with(kFolderInUse) || message.ends_with(kFolderBegun);
  }

  void start(Trial& trial) {
    if (is_settled(trial)) return;
    const fs::path claim = out_ / "claims" / trial.folder.filename();
    fs::create_directories(claim);
    fs::create_directories(trial.folder.parent_path());
    std::optional<FolderLock> lock = FolderLock::at_once(claim);
    if (!lock) {
      ++elsewhere_;
      return;
    }
    look_at(trial, plan_);  // another process may have ended it in the meantime
    if (is_settled(trial)) {
      ++ended_;
      return;
    }
    begin_again(trial);
    std::vector<std::string> arguments = plan_.experiment.arguments();
    arguments.insert(arguments.begin(), "train");
    for (const std::string& assignment : assignments(plan_, trial.values))
      arguments.insert(arguments.end(), {"--set", assignment});
    if (trial.seed >= 0) arguments.insert(arguments.end(), {"--seed", std::to_string(trial.seed)});
    arguments.insert(arguments.end(),
                     {"--out", trial.folder.string(), "--threads", "1", "--resume", "--quiet"});
    const std::size_t log_start = jobs::size_of(log_file(trial));
    trainings_.push_back({&trial, std::move(*lock), log_start, jobs::Child(arguments, log_file(trial))});
  }

  void collect() {
    for (auto training = trainings_.begin(); training != trainings_.end();) {
      const std::optional<int> code = training->child.ended();
      if (!code) {
        ++training;
        continue;
      }
      finish(*training, *code);
      training = trainings_.erase(training);
    }
  }

  void finish(Training& training, int code) {
    Trial& trial = *training.trial;
    const std::string message = jobs::last_words(log_file(trial), training.log_start);
    look_at(trial, plan_);
    if (trial.state != TrialState::done) {
      if (code == kWrongInput && is_taken(message)) {
        waiting_.push_back(&trial);
        return;
      }
      if (code == kDiverged) {
        end(trial, TrialState::diverged, message);
      } else if (code == kWrongInput) {
        end(trial, TrialState::failed, message);
      } else if (!training.verdict.empty()) {
        end(trial, TrialState::stopped, training.verdict);
      } else {
        failures_.push_back(text_of("run ", trial.folder.filename().string(), ": ",
                                    message.empty() ? text_of("ended with exit code ", code) : message));
      }
    }
    write_results(plan_, out_, joined(before_, *all_));
    if (options_.ended) options_.ended(trial, ++ended_, all_->size());
  }

  void judge() {
    if (plan_.method != Method::halving) return;
    for (Training& training : trainings_) {
      if (!training.verdict.empty() || training.trial->seed >= 0) continue;
      training.verdict = halving_.verdict(*training.trial, *all_);
      if (!training.verdict.empty()) training.child.stop();
    }
  }

  [[noreturn]] void stop() {
    for (Training& training : trainings_) training.child.stop();
    const std::size_t running = trainings_.size();
    trainings_.clear();
    throw Interrupted(text_of("interrupted with ", ended_, " of ", all_->size(), " runs ended, ", running,
                              " saved in between. The same command goes on"));
  }

  const SearchPlan& plan_;
  const fs::path& out_;
  const SearchOptions& options_;
  Halving halving_;
  std::vector<Trial>* all_ = nullptr;
  std::vector<Trial> before_;
  std::deque<Trial*> waiting_;
  std::list<Training> trainings_;
  std::size_t ended_ = 0, elsewhere_ = 0;
  std::vector<std::string> failures_;
};

/// The best runs without regard to repetitions, of those whose value says how good they are.
std::vector<const Trial*> best_first(const SearchPlan& plan, const std::vector<Trial>& trials) {
  std::vector<const Trial*> sorted;
  for (const Trial& trial : trials)
    if (trial.state == TrialState::done && is_rankable(plan.larger_is_better, trial.value))
      sorted.push_back(&trial);
  std::ranges::stable_sort(
      sorted, [&](const Trial* a, const Trial* b) { return is_better(plan, a->value, b->value); });
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

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

SearchResult look_at_search(const SearchPlan& plan, const fs::path& out) {
  SearchResult result{.trials = find_trials(plan, out)};
  if (std::ranges::all_of(result.trials, has_ended))
    result.repetitions = repetitions_of_best(plan, out, result.trials);
  result.repetitions = with_earlier(std::move(result.repetitions), plan, out, result.trials);
  return result;
}

SearchResult search(const SearchPlan& plan, const fs::path& out, const SearchOptions& options) {
  begin_folder(plan, out);
  SearchResult result{.trials = find_trials(plan, out)};
  Searcher searcher(plan, out, options);
  searcher.train(result.trials);
  for (Trial& trial : result.trials)
    if (!has_ended(trial)) look_at(trial, plan);
  if (std::ranges::all_of(result.trials, has_ended)) {
    result.repetitions = repetitions_of_best(plan, out, result.trials);
    searcher.train(result.repetitions, result.trials);
  }
  result.repetitions = with_earlier(std::move(result.repetitions), plan, out, result.trials);
  write_results(plan, out, joined(result.trials, result.repetitions));
  const std::vector<const Trial*> ranked = ranking(plan, result);
  if (!ranked.empty()) link_best(out, *ranked.front());
  result.elsewhere = searcher.elsewhere();
  result.failures = searcher.failures();
  return result;
}

void raise_failures(const SearchPlan& plan, const SearchResult& result) {
  if (!result.failures.empty()) {
    std::string message = text_of(result.failures.size(), " runs failed; the same command tries them again:");
    for (const std::string& failure : result.failures) message += "\n" + failure;
    throw Error(message);
  }
  const auto count = [&](TrialState state) {
    return std::ranges::count(result.trials, state, [](const Trial& trial) { return trial.state; });
  };
  const auto failed = count(TrialState::failed), diverged = count(TrialState::diverged);
  const auto runs = std::ssize(result.trials);
  if (runs > 0 && count(TrialState::done) > 0 && best_first(plan, result.trials).empty() &&
      std::ranges::all_of(result.trials, has_ended))
    throw InputError(
        text_of(plan.file.string(), ": /metric: ", plan.metric,
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

std::vector<double> values_of(const SearchResult& result, const Trial& trial) {
  std::vector<double> values = {trial.value};
  for (const Trial& repetition : result.repetitions)
    if (repetition.number == trial.number && repetition.state == TrialState::done)
      values.push_back(repetition.value);
  return values;
}

std::vector<const Trial*> ranking(const SearchPlan& plan, const SearchResult& result) {
  std::vector<const Trial*> sorted = best_first(plan, result.trials);
  const auto repeated = [&](const Trial* trial) { return values_of(result, *trial).size() > 1; };
  const auto others = std::stable_partition(sorted.begin(), sorted.end(), repeated);
  std::stable_sort(sorted.begin(), others, [&](const Trial* a, const Trial* b) {
    return is_better(plan, mean(values_of(result, *a)), mean(values_of(result, *b)));
  });
  return sorted;
}

}  // namespace lagtape::search
