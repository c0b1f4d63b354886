#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/cli/command.h"

namespace lagtape::cli {

/// Parses the arguments, runs the command that they select, and returns the exit code. Messages go to stderr.
/// `version` is the line that --version prints.
int run_command_line(const std::vector<Command>& commands, const std::string& version, int argc, char** argv);

}  // namespace lagtape::cli
