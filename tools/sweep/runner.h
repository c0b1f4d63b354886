#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/trial.h"
#include "lagtape/tools/train/experiment_rows.h"

namespace lagtape::sweep {

/// The choices of a command.
struct RunnerOptions {
  int jobs = 1;     ///< number of parallel trainings
  int threads = 1;  ///< total number of threads, at least one for each training
  std::function<bool()> stop_requested = [] { return false; };
  /// Called when a training has ended, with the number of ended trials and their total.
  std::function<void(const Trial&, std::size_t ended, std::size_t of)> ended = {};
  /// Called once, when only so many trials of other processes are left.
  std::function<void(std::size_t trials)> waits = {};
};

/// How the trials of a plan are trained.
struct Training {
  std::filesystem::path claims;  ///< the process that trains a trial locks the folder of its name in here
  /// The arguments of `train` for the trial's experiment, without seed, folder and threads.
  std::function<std::vector<std::string>(const Trial&)> arguments;
  std::function<void(Trial&)> look;  ///< reads the outcome of a trial so far
  /// The reason to stop a trial, called again and again while it runs; empty: the trial continues.
  std::function<std::string(const Trial&)> verdict = {};
  bool awaits_others = true;  ///< a trial that another process trains is waited for, else left out
};

/// The arguments of a command for an experiment with changes in the form of --set.
std::vector<std::string> arguments_of(const ExperimentPlace& place, std::span<const std::string> set);

/// Trains the trials that are not settled, in order, each in a separate process, and resumes unfinished ones. When one
/// fails, the others continue. `before` further trials of `total` have ended already. Several processes, on machines
/// that share the folders, may train the same plan at the same time. Returns the number of trials that another process
/// is training. Throws Interrupted when it is stopped; everything is saved then.
std::size_t train_all(std::span<Trial> trials, std::size_t before, std::size_t total,
                      const Training& training, const RunnerOptions& options);

/// Whether the training of a trial ended with a code that does not blame its experiment.
bool has_crashed(const Trial& trial);
/// Whether it was refused because of wrong input.
bool was_refused(const Trial& trial);

}  // namespace lagtape::sweep
