#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/trial.h"
#include "lagtape/tools/train/experiment_rows.h"

namespace lagtape::sweep {

/// A command's choices.
struct RunnerOptions {
  int jobs = 1;     ///< number of parallel training runs
  int threads = 1;  ///< total number of threads, at least one per training run
  std::function<bool()> stop_requested = [] { return false; };
  /// Called when a training run has ended, with the number of ended trials and their total.
  std::function<void(const Trial&, std::size_t ended, std::size_t of)> ended = {};
  /// Called once, when only this many trials of other processes are left.
  std::function<void(std::size_t trials)> waits = {};
};

/// How a plan's trials are trained.
struct Training {
  std::filesystem::path claims;  ///< the process that trains a trial locks the folder with its name in here
  /// The arguments of `train` for the trial's experiment, without seed, folder and threads.
  std::function<std::vector<std::string>(const Trial&)> arguments;
  std::function<void(Trial&)> look;  ///< reads a trial's outcome so far
  /// The reason to stop a trial, polled while it runs; empty: the trial continues.
  std::function<std::string(const Trial&)> verdict = {};
  bool awaits_others = true;  ///< a trial that another process trains is waited for, else skipped
};

/// Command arguments for an experiment with changes in the form of --set.
std::vector<std::string> arguments_of(const ExperimentPlace& place, std::span<const std::string> set);

/// Trains the unfinished trials in order, each in a separate process, and resumes interrupted ones. If one
/// fails, the others continue. `before` other trials out of `total` have already ended. Several processes, on
/// machines that share the folders, may train the same plan at the same time. Returns the number of trials that
/// another process is training. Throws Interrupted if it is stopped; everything has been saved by then.
std::size_t train_all(std::span<Trial> trials, std::size_t before, std::size_t total,
                      const Training& training, const RunnerOptions& options);

/// Whether a trial's training ended with a code that does not blame its experiment.
bool has_crashed(const Trial& trial);
/// Whether it was rejected because of wrong input.
bool was_refused(const Trial& trial);

}  // namespace lagtape::sweep
