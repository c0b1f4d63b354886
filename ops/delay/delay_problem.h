#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/parameter.h"
#include "lagtape/ops/recurrence/equations/right_side.h"

namespace lagtape {

enum class OdeMethod : std::uint8_t { euler, exponential_euler, heun, rk4 };

/// The discretization of equations in continuous time. Steps are fixed; with `parts`, h = lag / parts, so the
/// steps and all breaks of the solution move with that lag.
struct OdeSolver {
  static constexpr std::int64_t kDefaultLevels = -1, kAllLevels = -2;

  OdeMethod method = OdeMethod::rk4;
  double h = 0;
  std::string lag = {};  ///< the name of a param or a number; empty: h
  std::int64_t parts = 0;
  bool hermite = true;  ///< states between steps: true: cubics through values and slopes; false: linear
  bool cut = true;      ///< steps end at breaks
  std::int64_t levels = kDefaultLevels;  ///< how many times a break is followed; by default order + 1
  bool hold = true;  ///< true: an input keeps its value until the next one; false: lines between them
  // Of a model:
  double dt = 0;  ///< the time of a step of the data; 0: h
  std::optional<Bounds> given =
      {};  ///< bounds of the time of each step, if the input's last number is that time
};

/// All states restart at a time, from these numbers.
struct Restart {
  double t = 0;
  std::vector<double> y = {};
};

/// The history of a one-number state, from readings: the cubic through these values with the slopes of the
/// parabolas through three of them, and lines beyond.
struct ObservedHistory {
  std::vector<double> times = {}, values = {};  ///< at least two, at ascending times; none: not observed
};

/// Equations with their numbers.
struct DelayProblem {
  const RightSide& side;
  OdeSolver solver;
  std::vector<std::vector<double>> weights;  ///< weights of the program
  /// Weights and their elements with respect to which to differentiate; -1 - r is the restart r.
  std::vector<std::pair<int, std::int64_t>> directions = {};
  std::vector<double> input_times = {};        ///< ascending
  std::vector<double> inputs = {};             ///< one row per time, as wide as the program's input
  std::vector<Restart> restarts = {};          ///< at ascending times
  std::vector<ObservedHistory> observed = {};  ///< for each state; empty: none
};

}  // namespace lagtape
