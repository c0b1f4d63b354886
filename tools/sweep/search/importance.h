#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// How much each setting mattered: the fraction of the variance of the runs' ranks, by the plan's metric, that
/// the setting alone explains, adjusted for chance (epsilon squared from a one-way analysis of variance on
/// ranks), from 0 to 1, largest first. Numbers form four groups of equal size, each choice forms a group, and
/// runs without the setting form another. Over finished runs; empty for fewer than eight.
std::vector<std::pair<std::string, double>> importance(const SearchPlan& plan,
                                                       const std::vector<Trial>& trials);

}  // namespace lagtape::search
