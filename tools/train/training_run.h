#pragma once

#include <filesystem>

#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/train/training_cost.h"
#include "lagtape/tools/train/training_setup.h"

namespace lagtape {

struct RunOptions {
  std::filesystem::path folder;  ///< empty: nothing is written
  bool resume = false;
  int threads = 1;
  std::string how_to_go_on = {};  ///< advice if it is interrupted; empty: the command that resumes this run
  bool tensorboard = false;       ///< also write the evaluations to a TensorBoard event file
  Ranks* ranks = nullptr;   ///< processes that train together, each calling train_run; null: only this one
  TrainerHooks hooks = {};  ///< `evaluated` and `save` are called after the files are written
  /// Called before the parameters are drawn.
  std::function<void(const TrainingCost&)> sized = {};
  /// Called before the first step. A resumed run has not read initial values from files.
  std::function<void(const Trainer&, const TrainingSetup&)> built = {};
  std::function<void(const Trainer&)> resumed = {};  ///< called before the first step of a resumed run
  std::function<void(Model&&)> trained = {};  ///< called last, with the model that has the kept weights
};

/// Trains an experiment into a run folder, or resumes a stopped run there, and evaluates the kept weights on
/// test. The weights file is the same, byte for byte, however often the run was stopped or killed and with any
/// number of threads and ranks; only the first rank reads and writes the folder. Throws InputError before
/// anything is written; DivergenceError and Interrupted with the state saved. Without a folder the result is
/// the argument of `trained`, and interrupted work is lost.
RunSummary train_run(const Experiment& experiment, const RunOptions& options);

/// The peak resident set size of this process so far, in bytes.
std::int64_t peak_rss_bytes();

}  // namespace lagtape
