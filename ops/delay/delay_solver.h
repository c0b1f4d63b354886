#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/delay/delay_problem.h"

namespace lagtape {

int order_of(OdeMethod method);

/// A Runge-Kutta method: times and weights of its stages, each of which starts from the previous one.
struct Tableau {
  std::vector<double> c, b;
};
Tableau tableau_of(OdeMethod method);

/// The states at the requested times, [times x width], and their derivatives, [times x width x directions].
struct DelaySolution {
  std::vector<double> y, d;
  std::vector<double> gaps,
      gaps_d;  ///< [restarts x width]: the states just before a restart minus those after it
  std::int64_t steps = 0;
};

/// For each number of the input, whether the equations use it.
std::vector<bool> columns_read(const RightSide& side);

/// Solves the equations from t = 0 and reads the states at `times`; those before 0 come from the histories. The
/// derivatives are exact for the discretization: steps, breaks, and past values move with the lags. In f64.
/// Throws InputError for a lag that is shorter than a step and for values that are not finite.
///
/// Solves the equations from t = 0 and reads the states at `times`; those before 0 come from the histories. The
/// derivatives are exact for the discretization: steps, breaks, and past values move with the lags. In f64.
/// Throws InputError for a lag that is shorter than a step and for values that are not finite.
DelaySolution solve(const DelayProblem& problem, const std::vector<double>& times);

}  // namespace lagtape
