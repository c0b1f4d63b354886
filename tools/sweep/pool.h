#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/core/io/folder_lock.h"
#include "lagtape/core/problem.h"
#include "lagtape/tools/sweep/run.h"

namespace lagtape::sweep {

/// How a training ended: its exit code, and its problems; none where a signal ended it.
struct Ending {
  int code = 0;
  std::vector<Problem> problems = {};

  std::string message() const { return to_string(problems); }

  bool diverged() const { return code == 3; }
  bool refused() const { return code == 2; }  ///< something that the user gave is wrong
  /// Another training holds the folder, or has begun there in the meantime.
  bool found_another() const {
    return !problems.empty() &&
           (problems.front().rule == Rule::in_use || problems.front().rule == Rule::exists);
  }
};

/// What a pool does with a run whose turn has come: trains it by a command, puts it off, or leaves it out.
struct Turn {
  enum class Kind : std::uint8_t { train, later, leave_out };
  Kind kind = Kind::train;
  std::vector<std::string> arguments = {};  ///< the tool's, with "train" first
  std::optional<FolderLock> claim = {};     ///< held as long as the training runs
};

struct Pool {
  int jobs = 1;     ///< number of parallel trainings
  int threads = 1;  ///< total number of threads, at least one for each training
  std::function<bool()> stop_requested = [] { return false; };
  /// The command of a run, with so many threads.
  std::function<Turn(Run& run, int threads)> begin = {};
  /// Called when a training has ended; whether the run is put off to be trained again.
  std::function<bool(Run& run, const Ending& ending)> ended = {};
  /// Whether a training is hopeless and asked to stop, asked again and again while it runs.
  std::function<bool(const Run& run)> is_hopeless = {};
};

/// Trains runs in order, each in a process of its own. Returns how many were running when it was asked to stop, all of
/// them saved; empty when it was not.
std::optional<std::size_t> train_all(std::deque<Run*> waiting, const Pool& pool);

}  // namespace lagtape::sweep
