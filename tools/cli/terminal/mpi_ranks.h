#pragma once

#include <functional>
#include <memory>

#include "lagtape/core/ranks.h"

namespace lagtape::cli {

/// Runs `work` with the ranks among which mpirun (or another MPI launcher) started this process, or with null
/// if this is the only process. If all ranks throw, the first one rethrows and the others end silently; an
/// error on one rank ends all of them. Throws InputError if there are ranks and this tool was built without
/// MPI.
void run_among_ranks(const std::function<void(Ranks*)>& work);

}  // namespace lagtape::cli
