#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {

/// How much each setting mattered: the part of the variance of the runs' ranks, by the plan's metric, that the setting
/// explains alone, adjusted for chance (epsilon squared of a one-way analysis of variance on ranks), from 0 to 1, the
/// largest first. Numbers form four groups of equal size, choices a group each, and runs without the setting one more.
/// Over finished runs; empty for fewer than eight.
std::vector<std::pair<std::string, double>> importance(const SearchPlan& plan,
                                                       const std::vector<Trial>& trials);

}  // namespace lagtape::search
