#include "lagtape/tools/sweep/table/trainer_pool.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <list>
#include <thread>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/tools/sweep/jobs/child.h"

namespace lagtape::table {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kPause(20);
constexpr int kDiverged = 3;

class TrainerPool {
 public:
  TrainerPool(std::vector<Run>& runs, const PaperTable& table, const PoolOptions& options)
      : plan_(table), options_(options), free_threads_(options.threads) {
    for (Run& run : runs) {
      if (run.state == RunState::missing || run.state == RunState::unfinished) waiting_.push_back(&run);
    }
    all_ = waiting_.size();
  }

  std::vector<int> train() {
    while (!waiting_.empty() || !trainings_.empty()) {
      if (options_.stop_requested()) stop();
      while (!waiting_.empty() && static_cast<int>(trainings_.size()) < options_.jobs) start();
      collect();
      std::this_thread::sleep_for(kPause);
    }
    return failures_;
  }

 private:
  struct Training {
    Run* run;
    int threads;
    std::size_t log_start;
    jobs::Child child;
  };

  /// Shares the free threads among the trainings that can begin now, at least one for each.
  int threads_for_next() const {
    const int places = options_.jobs - static_cast<int>(trainings_.size());
    const int beginning = std::min(places, static_cast<int>(waiting_.size()));
    return std::max(1, free_threads_ / beginning);
  }

  void start() {
    Run& run = *waiting_.front();
    const int threads = threads_for_next();
    std::vector<std::string> arguments = plan_.experiment(plan_.rows[run.row]).arguments();
    arguments.insert(arguments.begin(), "train");
    for (const std::string& assignment : options_.assignments) {
      arguments.insert(arguments.end(), {"--set", assignment});
    }
    arguments.insert(arguments.end(), {"--seed", std::to_string(run.seed), "--out", run.folder.string(),
                                       "--threads", std::to_string(threads), "--resume"});
    fs::create_directories(run.folder.parent_path());
    const fs::path log = log_file(run);
    const std::size_t log_start = jobs::size_of(log);
    trainings_.push_back({&run, threads, log_start, jobs::Child(arguments, log)});
    free_threads_ -= threads;
    waiting_.pop_front();
  }

  void collect() {
    for (auto training = trainings_.begin(); training != trainings_.end();) {
      const std::optional<int> code = training->child.ended();
      if (!code) {
        ++training;
        continue;
      }
      free_threads_ += training->threads;
      finish(*training->run, *code, training->log_start);
      training = trainings_.erase(training);
    }
  }

  void finish(Run& run, int code, std::size_t log_start) {
    if (code == kDiverged)
      write_file_atomically(divergence_file(run), jobs::last_words(log_file(run), log_start), Links::refused);
    look_at(run, plan_, options_.assignments);
    if (run.state != RunState::done && run.state != RunState::diverged) {
      run.state = RunState::failed;
      run.message = jobs::last_words(log_file(run), log_start);
      if (run.message.empty()) run.message = text_of("ended with exit code ", code);
      failures_.push_back(code);
    }
    if (options_.ended) options_.ended(run, ++ended_, all_);
  }

  [[noreturn]] void stop() {
    for (Training& training : trainings_) training.child.stop();
    const std::size_t running = trainings_.size();
    trainings_.clear();
    throw Interrupted(text_of("interrupted with ", ended_, " of ", all_, " trainings done, ", running,
                              " saved in between. The same command resumes them"));
  }

  const PaperTable& plan_;
  const PoolOptions& options_;
  std::deque<Run*> waiting_;
  std::list<Training> trainings_;
  int free_threads_;
  std::size_t ended_ = 0, all_ = 0;
  std::vector<int> failures_;
};

}  // namespace

std::vector<int> train_all(std::vector<Run>& runs, const PaperTable& table, const PoolOptions& options) {
  return TrainerPool(runs, table, options).train();
}

}  // namespace lagtape::table
