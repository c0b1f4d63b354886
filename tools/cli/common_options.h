#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/cli/command.h"

namespace lagtape::cli {

/// The experiment of a command, and how --set changes it.
struct ExperimentArguments {
  std::string file;
  std::vector<std::string> set;
  void add_to(Options& options, const std::string& about = "experiment file (JSON)");
};

/// --threads N, 1 to 1024; all the machine has unless given.
void add_threads(Options& options, int& threads);

}  // namespace lagtape::cli
