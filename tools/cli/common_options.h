#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape::cli {

/// The experiment file of a command, and its changes by --set.
struct ExperimentArguments {
  std::string file;
  std::vector<std::string> set;
  void add_to(Options& options, const std::string& about = "experiment file (JSON)");

  Experiment read() const { return read(set); }
  /// Reads the file with these changes. Throws InputError; for a run or a recording with what to give in its place.
  Experiment read(const std::vector<std::string>& changes) const;
};

/// Adds --threads N, 1 to 1024; the default is the number of the machine's hardware threads.
void add_threads(Options& options, int& threads);

}  // namespace lagtape::cli
