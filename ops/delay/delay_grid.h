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

/// The times of the steps, starting with t_0 = 0, each with its derivatives, because grid times move with lags
/// and params.
struct MovingGrid {
  struct Point {
    Dual t;
    bool is_break = false;  ///< the slope, or one of its derivatives, may jump here
  };
  std::vector<Point> points;
  double tolerance = 0;  ///< closer times count as equal
};

/// An integral smooths its integrand, so the effect of a break beyond two of its points is below the order of the
/// methods.
inline constexpr std::int64_t kSpreadLevels = 2;

/// The parts of a grid.
struct GridParts {
  Dual h;                       ///< the step
  double end = 0;               ///< the last time that is read
  std::vector<Dual> lags = {};  ///< constant lags, along which breaks travel
  std::vector<Dual> spread =
      {};  ///< lags of the points of integrals, along which breaks travel `kSpreadLevels` times
  std::vector<double> samples = {};  ///< times of inputs: fixed points, which are breaks
  std::vector<Dual> switches = {};   ///< other times at which slopes jump, and jumps in histories before 0
  bool cut = true;                   ///< whether traveling breaks are grid points
  std::int64_t levels = 0;           ///< how many times a break is followed
};

/// Multiples of h, the sample times, and the breaks: 0, the samples, the switches, and b + lag for each of
/// them, `levels` times. If several coincide, a sample is kept, or else the break that was followed fewer
/// times.
MovingGrid make_grid(const GridParts& parts);

}  // namespace lagtape
