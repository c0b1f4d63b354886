#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// The charts of a search by their names: the metric against each setting ("optimizer.lr"), a dot for each run with a
/// number, stopped ones pale; and all settings side by side ("settings"), a line for each run, each axis from the
/// smallest to the largest value of its setting, the best three named.
std::vector<std::pair<std::string, Plot>> charts_of(const SearchPlan& plan, const std::vector<Trial>& trials);

}  // namespace lagtape::search
