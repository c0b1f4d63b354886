#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/fit/fit.h"

namespace lagtape {

/// Charts of a fit by file name, without endings: "fit" and "residuals", or "fit-y" and "residuals-y" for each
/// of several traces, and "profile-tau" for each profile.
std::vector<std::pair<std::string, Plot>> plots_of_fit(const FitResult& result, const std::string& title);

}  // namespace lagtape
