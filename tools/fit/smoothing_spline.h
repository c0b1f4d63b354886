#pragma once

#include <vector>

namespace lagtape {

/// The natural cubic spline through smoothed readings: the f that minimizes sum (y_i - f(t_i))^2 + smoothing *
/// integral f''^2 (Reinsch 1967). Beyond the readings it is a straight line.
class SmoothingSpline {
 public:
  /// At least three readings at ascending times. Throws InputError otherwise.
  SmoothingSpline(std::vector<double> times, const std::vector<double>& readings, double smoothing);
  /// With the smoothing that best predicts every fifth reading from the others.
  static SmoothingSpline chosen(const std::vector<double>& times, const std::vector<double>& readings);

  double value(double t) const;
  double slope(double t) const;
  double smoothing() const { return smoothing_; }

 private:
  std::size_t interval_of(double t) const;

  std::vector<double> times_, values_, curvatures_;
  double smoothing_;
};

}  // namespace lagtape
