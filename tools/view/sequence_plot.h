#pragma once

#include <string>
#include <vector>

#include "lagtape/core/thread_pool.h"
#include "lagtape/data/dataset.h"
#include "lagtape/tools/chart/plot.h"

namespace lagtape {

/// The first sequence of a split in the units of the data: its inputs and, if there is one at every step, its
/// targets. `names` are for inputs that have no names in the data. Throws InputError for tokens and for classes
/// at every step.
Plot plot_of_sequence(const Dataset& split, const std::string& title, ThreadPool& pool,
                      const std::vector<std::string>& names = {});

}  // namespace lagtape
