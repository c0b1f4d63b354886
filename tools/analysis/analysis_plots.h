#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/analysis/analysis.h"
#include "lagtape/tools/analysis/plot.h"

namespace lagtape {

/// The charts of an analysis, each with what its file is to be called: "gradients" (dL/dh_k against lag),
/// "jacobians" (state Jacobians against lag), "norms" (of states over time), and "values-L" (histograms of
/// what layer L names). Lines are means over the sequences.
std::vector<std::pair<std::string, Plot>> plots_of(const Analysis& analysis, const std::string& title);

}  // namespace lagtape
