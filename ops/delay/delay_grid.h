#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/delay/dual_program.h"

namespace lagtape {

/// A number with its derivatives.
struct Dual {
  double v = 0;
  std::vector<double> d;
};

/// The times of the steps, t_0 = 0 first, each with its derivatives: it moves with what it is made of.
struct MovingGrid {
  struct Point {
    Dual t;
    bool is_break = false;  ///< the slope, or one of its derivatives, may jump here
  };
  std::vector<Point> points;
  double tolerance = 0;  ///< times that are nearer to each other are one
};

/// An integral smooths what it reads, so what a break leaves after two of its points is below the order of the methods.
inline constexpr std::int64_t kSpreadLevels = 2;

/// What a grid is made of.
struct GridParts {
  Dual h;                       ///< the step
  double end = 0;               ///< the last time that is read
  std::vector<Dual> lags = {};  ///< constant ones, along which breaks travel
  std::vector<Dual> spread =
      {};  ///< those of the points of integrals, along which breaks travel `kSpreadLevels` times
  std::vector<double> samples = {};  ///< times of inputs: fixed points, which are breaks
  std::vector<Dual> switches =
      {};                   ///< other times at which slopes jump, and before 0 those of jumps in histories
  bool cut = true;          ///< whether breaks that travel are points
  std::int64_t levels = 0;  ///< how often a break is followed
};

/// Multiples of h, the times of samples and the breaks: 0, the samples, the switches, and b + lag for each of them, `levels` times. Where
/// several meet, a sample stays, then the break that was followed less often.
MovingGrid make_grid(const GridParts& parts);

}  // namespace lagtape
