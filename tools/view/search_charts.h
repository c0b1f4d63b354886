#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// The charts of a search by name: the metric against each setting ("optimizer.lr"), with a dot for each run
/// that has a number, pale if stopped; and all settings side by side ("settings"), with a line for each run,
/// each axis ranging from the smallest to the largest value of its setting, and the best three labeled.
std::vector<std::pair<std::string, Plot>> charts_of(const SearchPlan& plan, const std::vector<Trial>& trials);

}  // namespace lagtape::search
