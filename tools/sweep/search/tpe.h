#pragma once

#include <span>

#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// The settings of a run by a tree of Parzen estimators (Bergstra et al. 2011, "Algorithms for Hyper-Parameter
/// Optimization", Section 4): of 24 draws from the densities l of the best 15 % of the known runs, the one with
/// the largest l / g, where g are the densities of the other runs. Depends only on the plan, the known runs,
/// the number and the attempt. `known`: all runs of earlier batches, which have ended.
Values tpe_draw(const SearchPlan& plan, std::span<const Trial> known, std::size_t number,
                std::uint64_t attempt);

}  // namespace lagtape::search
