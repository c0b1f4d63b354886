#include "lagtape/tools/sweep/pool.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <thread>
#include <utility>

#include "lagtape/tools/sweep/child.h"

namespace lagtape::sweep {

namespace {

struct Training {
  Run* run;
  int threads;
  std::optional<FolderLock> claim;
  Child child;
};

using Trainings = std::list<Training>;

/// The free threads are shared among the trainings that can begin now, at least one for each.
int threads_for_next(const Pool& pool, const Trainings& trainings, std::size_t waiting) {
  int free = pool.threads;
  for (const Training& training : trainings) free -= training.threads;
  const auto places = static_cast<int>(std::min(pool.jobs - trainings.size(), waiting));
  return std::max(1, free / places);
}

void begin_next(const Pool& pool, std::deque<Run*>& waiting, Trainings& trainings) {
  Run& run = *waiting.front();
  const int threads = threads_for_next(pool, trainings, waiting.size());
  waiting.pop_front();
  Turn turn = pool.begin(run, threads);
  if (turn.kind == Turn::Kind::later) waiting.push_back(&run);
  if (turn.kind != Turn::Kind::train) return;
  std::filesystem::create_directories(run.folder.parent_path());
  trainings.push_back({&run, threads, std::move(turn.claim), Child(turn.arguments, log_file(run))});
}

void collect(const Pool& pool, std::deque<Run*>& waiting, Trainings& trainings) {
  for (auto training = trainings.begin(); training != trainings.end();) {
    const std::optional<int> code = training->child.ended();
    if (!code) {
      ++training;
      continue;
    }
    Run& run = *training->run;
    const bool again = pool.ended(run, {*code, training->child.problems()});
    if (again) waiting.push_back(&run);
    training = trainings.erase(training);
  }
}

}  // namespace

std::optional<std::size_t> train_all(std::deque<Run*> waiting, const Pool& pool) {
  constexpr std::chrono::milliseconds kPause(20);
  Trainings trainings;
  while (!waiting.empty() || !trainings.empty()) {
    if (pool.stop_requested()) {
      for (Training& training : trainings) training.child.stop();  // all at once, before any is waited for
      return trainings.size();
    }
    for (std::size_t i = waiting.size(); i > 0 && std::ssize(trainings) < pool.jobs; --i)
      begin_next(pool, waiting, trainings);
    collect(pool, waiting, trainings);
    for (Training& training : trainings)
      if (pool.is_hopeless && pool.is_hopeless(*training.run)) training.child.stop();
    if (!trainings.empty() || !waiting.empty()) std::this_thread::sleep_for(kPause);
  }
  return std::nullopt;
}

}  // namespace lagtape::sweep
