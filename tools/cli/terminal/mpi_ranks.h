#pragma once

#include <functional>
#include <memory>

#include "lagtape/core/ranks.h"

namespace lagtape::cli {

/// Runs `work` with the ranks that mpirun (or another launcher of MPI) started this process among; with null where this
/// process is alone. If all ranks throw, the first one throws on, and the others end silently; an error of one rank
/// ends all of them. Throws InputError when there are ranks and this tool was built without MPI.
void run_among_ranks(const std::function<void(Ranks*)>& work);

}  // namespace lagtape::cli
