#pragma once

#include <limits>
#include <string>
#include <vector>

namespace lagtape {

/// One axis of a plot. What is not given comes from the data.
struct PlotAxis {
  std::string title = {};
  bool log = false;  ///< in powers of ten; shows nothing that is not positive
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> categories = {};  ///< names of the places 0, 1, 2, ..., instead of numbers
};

/// A place on an axis that carries a text.
struct PlotTick {
  double value = 0;
  std::string text;
};

/// An axis whose range is known: places between 0 (its start) and 1 (its end), and its ticks.
class PlotScale {
 public:
  /// The range holds every value that can be shown; `include_zero` widens it. Values may be in any order.
  PlotScale(const PlotAxis& axis, const std::vector<double>& values, bool include_zero = false);

  bool shows(double value) const;  ///< finite, and positive on a logarithmic axis
  /// Where a value stands; below 0 or above 1 outside of the range. Only for what the axis shows.
  double place(double value) const;
  /// The start of the axis, where bars stand on.
  double base() const { return log_ ? min_ : (min_ > 0 ? min_ : (max_ < 0 ? max_ : 0)); }
  const std::vector<PlotTick>& ticks() const { return ticks_; }

 private:
  void find_range(const PlotAxis& axis, const std::vector<double>& values, bool include_zero);
  std::vector<PlotTick> linear_ticks() const;
  std::vector<PlotTick> log_ticks() const;

  bool log_;
  double min_ = 0, max_ = 1;
  std::vector<PlotTick> ticks_;
};

}  // namespace lagtape
