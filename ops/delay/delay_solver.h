#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/parameter.h"
#include "lagtape/ops/recurrence/equations/right_side.h"

namespace lagtape {

enum class OdeMethod : std::uint8_t { euler, exponential_euler, heun, rk4 };
int order_of(OdeMethod method);

/// How equations in continuous time are discretised. Steps are fixed; with `parts`, h = lag / parts, so that the steps and
/// all breaks of the solution move with that lag.
struct OdeSolver {
  static constexpr std::int64_t kDefaultLevels = -1, kAllLevels = -2;

  OdeMethod method = OdeMethod::rk4;
  double h = 0;
  std::string lag = {};  ///< the name of a param or a number; empty: h
  std::int64_t parts = 0;
  bool hermite = true;  ///< states between steps: by cubics through values and slopes; false: linear
  bool cut = true;      ///< steps end at breaks
  std::int64_t levels = kDefaultLevels;  ///< how often a break is followed; by default order + 1
  bool hold = true;  ///< an input keeps its value until the next one; false: lines between them
};

/// Equations with their numbers.
struct DelayProblem {
  const RightSide& side;
  OdeSolver solver;
  std::vector<std::vector<double>> weights;  ///< of the program
  /// Weights and their elements, by which to differentiate.
  std::vector<std::pair<int, std::int64_t>> directions = {};
  std::vector<double> input_times = {};  ///< ascending
  std::vector<double> inputs = {};       ///< a row a time, as wide as the program's input
};

/// The states at the times that were asked for, [times x width], and their derivatives, [times x width x directions].
struct DelaySolution {
  std::vector<double> y, d;
  std::int64_t steps = 0;
};

/// Solves the equations from t = 0 and reads the states at `times`, those before 0 from the histories. The derivatives are
/// exact for the discretisation: steps, breaks and past values move with the lags. In f64.
///
/// Throws InputError for a lag that is shorter than a step and for values that are not finite.
DelaySolution solve(const DelayProblem& problem, const std::vector<double>& times);

/// The bounds of a value out of those of the weights, as far as they are known: infinite, or NaN for a low bound that a
/// weight leaves open.
Bounds bounds_of(const StepProgram& program, int value, const std::vector<Bounds>& weights);

}  // namespace lagtape
