#include "lagtape/tools/sweep/runner.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <optional>
#include <thread>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/io/folder_lock.h"
#include "lagtape/tools/sweep/child.h"

namespace lagtape::sweep {

namespace {

constexpr int kWrongInput = 2, kDiverged = 3;  // exit codes of the tool

/// A training that is running.
struct Process {
  Trial* trial;
  int threads;
  FolderLock claim;
  Child child;
  std::string verdict = {};
};

struct State {
  std::deque<Trial*> waiting = {};
  std::list<Process> running = {};
  std::size_t ended = 0;      ///< trials
  std::size_t elsewhere = 0;  ///< trials that another process is training
};

/// Whether another training holds the folder of a trial: that of a plan that was killed, which is still saving its
/// state.
bool is_held(const Trial& trial) {
  return std::filesystem::exists(trial.folder) && !FolderLock::at_once(trial.folder);
}

/// The free threads are shared among the trainings that can begin now, at least one for each.
int threads_for_next(const State& state, const RunnerOptions& options) {
  int free = options.threads;
  for (const Process& process : state.running) free -= process.threads;
  const auto places = static_cast<int>(std::min(options.jobs - state.running.size(), state.waiting.size()));
  return std::max(1, free / places);
}

void begin_next(State& state, const Training& training, const RunnerOptions& options) {
  Trial& trial = *state.waiting.front();
  const int threads = threads_for_next(state, options);
  state.waiting.pop_front();
  if (is_held(trial)) return state.waiting.push_back(&trial);
  const std::filesystem::path place = training.claims / trial.folder.filename();
  std::filesystem::create_directories(place);
  std::optional<FolderLock> claim = FolderLock::at_once(place);
  if (!claim && training.awaits_others) return state.waiting.push_back(&trial);
  if (!claim) {
    ++state.elsewhere;
    return;
  }
  training.look(trial);  // another process may have ended it in the meantime
  if (trial.is_settled()) {
    ++state.ended;
    return;
  }
  begin_again(trial);
  std::vector<std::string> arguments = training.arguments(trial);
  arguments.insert(arguments.begin(), "train");
  if (trial.seed >= 0) arguments.insert(arguments.end(), {"--seed", std::to_string(trial.seed)});
  arguments.insert(arguments.end(),
                   {"--out", trial.folder.string(), "--threads", std::to_string(threads), "--resume"});
  std::filesystem::create_directories(trial.folder.parent_path());
  state.running.push_back(
      {&trial, threads, std::move(*claim), Child(arguments, trial.folder.string() + ".log")});
}

/// Whether another training holds the folder, or has begun there in the meantime. As the trial is claimed, it was begun
/// by a process that was killed.
bool found_another(int code, const std::vector<Problem>& problems) {
  return code == kWrongInput && !problems.empty() &&
         (problems.front().rule == Rule::in_use || problems.front().rule == Rule::exists);
}

/// Records how a training without a result ended. A crash says nothing about its settings, so the folder has no note.
void note_end(Trial& trial, std::vector<Problem> problems, const std::string& verdict) {
  const std::string message =
      problems.empty() ? text_of("ended with exit code ", trial.code) : to_string(problems);
  trial.problems = std::move(problems);
  if (trial.code == kDiverged) {
    end(trial, RunState::diverged, message);
  } else if (trial.code != kWrongInput && !verdict.empty()) {
    end(trial, RunState::stopped, verdict);
  } else if (trial.code == kWrongInput) {
    end(trial, RunState::failed, message);
  } else {
    trial.state = RunState::failed;
    trial.message = message;
  }
}

void collect(State& state, std::size_t total, const Training& training, const RunnerOptions& options) {
  for (auto process = state.running.begin(); process != state.running.end();) {
    Trial& trial = *process->trial;
    std::string& verdict = process->verdict;
    const std::optional<int> code = process->child.ended();
    if (!code) {
      if (training.verdict && verdict.empty()) verdict = training.verdict(trial);
      if (!verdict.empty()) process->child.stop();
      ++process;
      continue;
    }
    const std::vector<Problem> problems = process->child.problems();
    training.look(trial);
    trial.code = *code;
    const bool has_result = trial.state == RunState::done;
    if (!has_result && found_another(*code, problems)) {
      state.waiting.push_back(&trial);
    } else {
      if (!has_result) note_end(trial, problems, verdict);
      ++state.ended;
      if (options.ended) options.ended(trial, state.ended, total);
    }
    process = state.running.erase(process);
  }
}

}  // namespace

std::vector<std::string> arguments_of(const ExperimentPlace& place, std::span<const std::string> set) {
  std::vector<std::string> arguments = place.arguments();
  for (const std::string& assignment : set) arguments.insert(arguments.end(), {"--set", assignment});
  return arguments;
}

std::size_t train_all(std::span<Trial> trials, std::size_t before, std::size_t total,
                      const Training& training, const RunnerOptions& options) {
  constexpr std::chrono::milliseconds kPause(20);
  State state{.ended = before};
  for (Trial& trial : trials) {
    if (trial.is_settled()) {
      ++state.ended;
    } else {
      state.waiting.push_back(&trial);
    }
  }
  bool has_waited = !options.waits;
  while (!state.waiting.empty() || !state.running.empty()) {
    if (options.stop_requested()) {
      for (Process& process : state.running) process.child.stop();  // all at once, before any is waited for
      throw Interrupted(text_of("interrupted with ", state.ended, " of ", total, " runs ended, ",
                                state.running.size(), " saved in between. The same command resumes them"));
    }
    for (std::size_t i = state.waiting.size(); i > 0 && std::ssize(state.running) < options.jobs; --i)
      begin_next(state, training, options);
    if (state.running.empty() && !state.waiting.empty() && !std::exchange(has_waited, true))
      options.waits(state.waiting.size());
    collect(state, total, training, options);
    if (!state.running.empty() || !state.waiting.empty()) std::this_thread::sleep_for(kPause);
  }
  return state.elsewhere;
}

bool has_crashed(const Trial& trial) {
  return trial.state == RunState::failed && trial.code != 0 && trial.code != kWrongInput;
}
bool was_refused(const Trial& trial) { return trial.state == RunState::failed && trial.code == kWrongInput; }

}  // namespace lagtape::sweep
