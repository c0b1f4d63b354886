#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/tools/cli/terminal/epoch_table.h"
#include "lagtape/tools/train/trainer.h"

namespace lagtape::cli {

/// A training run's progress on stderr: a table with a line for each evaluation, and on a terminal a line that
/// is redrawn, with a bar, epoch, step, loss, the best value so far, time left and steps per second. It omits
/// what does not fit the terminal's width; it is colored unless NO_COLOR is set.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void stepped(const StepReport& report);  ///< even within a step
  void evaluated(const EvaluationReport& report);
  void clear();  ///< removes the redrawn line

 private:
  using Clock = std::chrono::steady_clock;

  bool quiet_, moving_;
  bool has_colors_;
  bool shown_ = false;
  EpochTable table_;
  std::string best_;   ///< the best value so far
  double first_ = -1;  ///< steps already done when timing started
  Clock::time_point started_, drawn_;
};

/// The first parts of a progress line that fit into `width` columns, after a bar of `share` (0 to 1) if there is room.
std::string progress_line(double share, const std::vector<std::string>& parts, std::size_t width,
                          bool has_colors);

}  // namespace lagtape::cli
