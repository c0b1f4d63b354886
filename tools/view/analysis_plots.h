#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/analysis/analysis.h"
#include "lagtape/tools/chart/plot.h"

namespace lagtape {

/// The charts of an analysis by file name: "gradients" (dL/dh_k against lag), "jacobians" (state Jacobians
/// against lag), "norms" (states over time), and "values-L-NAME" (histogram of a named value in layer L). Lines
/// are means over the sequences.
std::vector<std::pair<std::string, Plot>> plots_of(const Analysis& analysis, const std::string& title);

}  // namespace lagtape
