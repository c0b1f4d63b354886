#pragma once

#include <string>

#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/tools/chart/plot.h"

namespace lagtape {

/// The states over time.
Plot plot_of_solution(const SolvedEquations& solved, const std::string& title);

}  // namespace lagtape
