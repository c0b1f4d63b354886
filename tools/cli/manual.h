#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/cli/command.h"

namespace lagtape::cli {

// The tool's commands and options as a manual page and shell completions.

std::string man_page(const std::vector<Command>& commands, const std::string& version);
std::string bash_completion(const std::vector<Command>& commands);
std::string zsh_completion(const std::vector<Command>& commands);
std::string fish_completion(const std::vector<Command>& commands);

}  // namespace lagtape::cli
