#pragma once

#include <functional>
#include <vector>

#include "lagtape/tools/table/run.h"

namespace lagtape::table {

struct PoolOptions {
  int jobs = 1;                               ///< trainings at once
  int threads = 1;                            ///< of all of them together
  std::vector<std::string> assignments = {};  ///< as --set takes them
  std::function<bool()> stop_requested = [] { return false; };
  /// Called when a training has ended, with how many of those to be run have.
  std::function<void(const Run&, std::size_t ended, std::size_t of)> ended = {};
};

/// Trains what is missing and goes on with what is unfinished, in order, each in a process of its own; looks
/// at every run again when it has ended. A run that fails does not keep the others from going on. Returns the
/// exit codes of the runs that failed. Throws Interrupted when it was stopped, with everything saved.
std::vector<int> train_all(std::vector<Run>& runs, const PaperTable& table, const PoolOptions& options);

}  // namespace lagtape::table
