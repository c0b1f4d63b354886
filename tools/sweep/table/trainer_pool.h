#pragma once

#include <functional>
#include <vector>

#include "lagtape/tools/sweep/table/run.h"

namespace lagtape::table {

struct PoolOptions {
  int jobs = 1;                               ///< number of parallel trainings
  int threads = 1;                            ///< total number of threads
  std::vector<std::string> assignments = {};  ///< in the form of --set
  std::function<bool()> stop_requested = [] { return false; };
  /// Called when a training has ended, with the number of trainings that have ended and their total.
  std::function<void(const Run&, std::size_t ended, std::size_t of)> ended = {};
};

/// Trains the missing runs and resumes the unfinished ones, in order, each in its own process, and reads the
/// result of each run when it has ended. The other runs go on when one fails. Returns the exit codes of the
/// failed runs. Throws Interrupted when it is stopped; everything is saved then.
std::vector<int> train_all(std::vector<Run>& runs, const PaperTable& table, const PoolOptions& options);

}  // namespace lagtape::table
