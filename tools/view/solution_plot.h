#pragma once

#include <string>
#include <vector>

#include "lagtape/cells/models/delay_equations.h"
#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/solve/solved_equations.h"

namespace lagtape {

/// The states over time.
Plot plot_of_solution(const SolvedEquations& solved, const std::string& title);

/// One state against another, with the start of the path marked.
Plot plot_of_phase(const std::vector<PhaseAxis>& axes, const std::vector<std::vector<double>>& values,
                   const std::string& title);

}  // namespace lagtape
