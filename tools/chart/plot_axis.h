#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/data/table/column.h"
#include "lagtape/data/time/time_zone.h"

namespace lagtape {

/// Times represented by the numbers of an axis: seconds after the zero, shown as dates on a clock.
struct PlotClock {
  Instant zero = 0;
  TimeZone zone = {};

  /// The position of a time on the axis.
  double place(Instant time) const { return seconds_of(time - zero); }
};

/// One axis of a plot. Limits that are not given come from the data.
struct PlotAxis {
  std::string title = {};
  bool log = false;  ///< logarithmic; shows positive values only
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> categories = {};  ///< names of the positions 0, 1, 2, ... instead of numbers
  std::vector<std::string> below = {};       ///< a second line for each name; empty: none
  std::optional<PlotClock> clock = {};       ///< dates instead of numbers
  double room = 0;  ///< the fraction of the range left free at both ends, if no limit is given (x)
  int ticks = 6;    ///< the desired number of ticks; there are at least three
};

/// A labeled position on an axis.
struct PlotTick {
  double value = 0;
  std::string text;
  std::string below = {};  ///< a second line
};

/// An axis with a known range: it maps values to positions between 0 (its start) and 1 (its end), and has
/// ticks.
class PlotScale {
 public:
  /// The range covers every value that can be shown, and 0 if `include_zero`. Values may be in any order.
  PlotScale(const PlotAxis& axis, const std::vector<double>& values, bool include_zero = false);

  bool shows(double value) const;  ///< finite, and positive on a logarithmic axis
  /// The position of a value that the axis can show; below 0 or above 1 outside the range.
  double place(double value) const;
  /// The value, or the start of a logarithmic axis for a smaller value.
  double clamped(double value) const { return log_ && value <= 0 && std::isfinite(value) ? min_ : value; }
  /// The base of bars: 0 or the end of the range nearest to it; on a logarithmic axis, its start.
  double base() const { return log_ ? min_ : (min_ > 0 ? min_ : (max_ < 0 ? max_ : 0)); }
  const std::vector<PlotTick>& ticks() const { return ticks_; }
  /// The largest value, which need not be a tick. None without values, or if its text is too long.
  const std::optional<PlotTick>& last() const { return last_; }

 private:
  void find_range(const PlotAxis& axis, const std::vector<double>& values, bool include_zero);
  std::vector<PlotTick> linear_ticks(int wished) const;
  std::vector<PlotTick> log_ticks(int wished) const;
  std::vector<PlotTick> clock_ticks(const PlotClock& clock, int wished) const;

  bool log_;
  double min_ = 0, max_ = 1;
  std::vector<PlotTick> ticks_;
  std::optional<PlotTick> last_;
};

/// The title of an axis for these quantities: "load (MW)" for one, else the unit that all share, or
/// `otherwise`.
std::string axis_title(const std::vector<Quantity>& quantities, const std::string& otherwise);
/// Names for the lines of a quantity, with units if these differ; "" if there is only one.
std::string line_name(const std::vector<Quantity>& quantities, std::size_t i);

}  // namespace lagtape
