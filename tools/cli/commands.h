#pragma once

#include <vector>

#include "lagtape/tools/cli/command.h"

namespace lagtape::cli {

/// Every command of the tool, in the order of its help text. Each command is a separate file and a row here.
std::vector<Command> commands();

}  // namespace lagtape::cli
