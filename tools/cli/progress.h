#pragma once

#include <chrono>
#include <cstdint>

#include "lagtape/tools/train/trainer.h"

namespace lagtape::cli {

/// The progress of a training on stderr: a line for each evaluation, and on a terminal a line that is
/// redrawn, with epoch, step, loss, steps per second and time left.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void stepped(const StepReport& report);
  void evaluated(const EvaluationReport& report);
  void clear();  ///< removes the redrawn line

 private:
  using Clock = std::chrono::steady_clock;

  bool quiet_, moving_;
  bool shown_ = false;
  std::int64_t first_step_ = -1;
  Clock::time_point started_, drawn_;
};

}  // namespace lagtape::cli
