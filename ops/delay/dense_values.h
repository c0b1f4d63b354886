#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lagtape/ops/delay/delay_grid.h"
#include "lagtape/ops/delay/delay_problem.h"
#include "lagtape/ops/delay/dual_program.h"

namespace lagtape {

/// The numbers of the states to read.
struct DenseRead {
  enum class From : std::uint8_t { any, left, right };

  std::size_t first = 0, count = SIZE_MAX;  ///< all: from 0 on
  bool slope = false;                       ///< their derivatives with respect to t
  std::size_t last = 0;                     ///< the last point that has values
  From from = From::any;                    ///< which side of a point is read
};

/// The values of the histories and of their slopes.
std::vector<int> roots_of_histories(const RightSide& side);

/// The states of all steps so far, and at all times up to the last of them: before 0 the histories; between two
/// points, the cubic through their values and slopes, or the line.
class DenseValues {
 public:
  DenseValues(const RightSide& side, const DelayProblem& problem);

  std::size_t width() const { return offsets_.back(); }
  std::size_t offset(std::size_t state) const { return offsets_[state]; }
  const MovingGrid& grid() const { return grid_; }

  void begin(MovingGrid grid);
  /// Notes that histories jump, so they are read from the requested side.
  void jump_before_0() { has_jumps_ = true; }
  Duals state(std::size_t point) const;
  void set_state(std::size_t point, const Duals& y) { store(y_, point, y); }
  /// Sets the states of a point from here on; earlier values stay.
  void restart(std::size_t point, const Duals& y);
  /// The slope at the start of the step that starts there, and, unless it was set, at the end of the step that
  /// ends there.
  void set_slope(std::size_t point, const Duals& f);
  void set_slope_before(std::size_t point, const Duals& f);

  void read(const Dual& s, const DenseRead& what, Duals& out);
  void read_values(double s, const DenseRead& what, std::vector<double>& out);

 private:
  struct Basis;
  /// The states of a point from the left.
  const double* left_values(std::size_t point) const;
  const double* left_tangents(std::size_t point) const;
  void store(Duals& all, std::size_t point, const Duals& one) const;
  /// The step that contains a time; none for a time in the history.
  std::ptrdiff_t step_at(double s, const DenseRead& what) const;
  void read_history(const Dual& s, const DenseRead& what, Duals& out);
  bool is_observed(std::size_t state) const { return !observed_.empty() && !observed_[state].times.empty(); }
  /// The number of an observed state, element i of the read values.
  void read_observed(std::size_t state, const Dual& s, bool slope, std::size_t i, Duals& out) const;

  const RightSide& side_;
  std::size_t p_;
  bool hermite_;
  std::vector<std::size_t> offsets_;
  DualProgram history_;
  const std::vector<ObservedHistory>& observed_;
  std::vector<std::vector<double>> observed_slopes_;
  MovingGrid grid_;
  Duals y_, after_, before_;  // states; slopes at the start of steps and at their ends, one row per point
  std::vector<char> has_before_;
  std::map<std::size_t, Duals> until_restart_;  ///< states of points from the left where they jump
  bool has_jumps_ = false;
};

}  // namespace lagtape
