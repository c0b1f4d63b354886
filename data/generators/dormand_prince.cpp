#include "lagtape/data/generators/dormand_prince.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

constexpr int kStages = 7;  // the last stage of a step is the first of the next

/// Row s contains the weights of the slopes 0..s in stage s + 1. The last row gives the solution of order 5.
constexpr double kWeights[kStages - 1][kStages - 1] = {
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};

/// The solution of order 5 minus that of order 4.
constexpr std::array<double, kStages> kError = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                                -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

/// The interpolant is the cubic through both ends and their slopes, plus this combination of slopes times
/// s^2 (1 - s)^2.
constexpr std::array<double, kStages> kQuartic = {
    -12715105075.0 / 11282082432.0,  0,
    87487479700.0 / 32700410799.0,   -10690763975.0 / 1880347072.0,
    701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0,
    69997945.0 / 29380423.0};

/// Takes one step at a time, and keeps the last one for its interpolant.
class Stepper {
 public:
  Stepper(const Autonomous& f, std::span<const double> start, double end, Tolerance tolerance)
      : f_(f), tolerance_(tolerance), end_(end), from_(start.begin(), start.end()), to_(from_) {
    slopes_.fill(std::vector<double>(from_.size()));
    f_(to_, slopes_.back());
    step_ = first_step();
  }

  double reached() const { return reached_; }

  /// Takes the next step that satisfies the tolerance.
  void advance() {
    from_ = to_;
    std::swap(slopes_.front(), slopes_.back());
    for (bool rejected = false;; rejected = true) {
      if (!(step_ > 10 * (std::nextafter(reached_, INFINITY) - reached_))) vanished();
      const double next = std::min(reached_ + step_, end_);
      step_ = next - reached_;
      run_stages();
      const double error = error_norm();
      const double factor = 0.9 * std::pow(error, -0.2);
      if (error < 1) {
        begun_ = reached_, taken_ = step_, reached_ = next;
        step_ *= std::min(rejected ? 1.0 : 10.0, factor);
        return;
      }
      step_ *= error >= 1 ? std::max(0.2, factor) : 0.2;  // a NaN counts as a large error
    }
  }

  /// The solution at a time within the last step.
  void sample(double t, std::span<double> y) const {
    const double s = (t - begun_) / taken_;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double rise = to_[i] - from_[i], start = taken_ * slopes_.front()[i] - rise;
      const double end = rise - taken_ * slopes_.back()[i] - start;
      y[i] = from_[i] + s * (rise + (1 - s) * (start + s * (end + (1 - s) * taken_ * combined(kQuartic, i))));
    }
  }

 private:
  double combined(const std::array<double, kStages>& weights, std::size_t i) const {
    double sum = 0;
    for (std::size_t k = 0; k < kStages; ++k) sum += weights[k] * slopes_[k][i];
    return sum;
  }

  void run_stages() {
    for (std::size_t s = 1; s < kStages; ++s) {
      for (std::size_t i = 0; i < to_.size(); ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < s; ++k) sum += kWeights[s - 1][k] * slopes_[k][i];
        to_[i] = from_[i] + step_ * sum;
      }
      f_(to_, slopes_[s]);
    }
  }

  /// The root mean square of value(i), relative to the tolerance of y[i].
  template <class Value>
  double norm(const Value& value) const {
    double sum = 0;
    for (std::size_t i = 0; i < to_.size(); ++i) {
      const double largest = std::max(std::abs(from_[i]), std::abs(to_[i]));
      const double share = value(i) / (tolerance_.absolute + tolerance_.relative * largest);
      sum += share * share;
    }
    return std::sqrt(sum / static_cast<double>(to_.size()));
  }

  double error_norm() const {
    return norm([&](std::size_t i) { return step_ * combined(kError, i); });
  }

  /// The step size for which an Euler step, and then an order-5 error, would be a hundredth of the tolerance.
  double first_step() const {
    const std::vector<double>& slope = slopes_.back();
    const double size = norm([&](std::size_t i) { return from_[i]; });
    const double speed = norm([&](std::size_t i) { return slope[i]; });
    const double euler = std::min(size < 1e-5 || speed < 1e-5 ? 1e-6 : 0.01 * size / speed, end_);
    std::vector<double> there(from_.size()), slope_there(from_.size());
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = from_[i] + euler * slope[i];
    f_(there, slope_there);
    const double bend = norm([&](std::size_t i) { return slope_there[i] - slope[i]; }) / euler;
    const double largest = std::max(speed, bend);
    const double second = largest <= 1e-15 ? std::max(1e-6, euler * 1e-3) : std::pow(0.01 / largest, 0.2);
    return std::min({100 * euler, second, end_});
  }

  [[noreturn]] void vanished() const {
    throw InputError({.op = "dormand_prince"}, Rule::not_supported,
                     text_of("the step vanishes at t = ", reached_,
                             ": the solution blows up, or the tolerance cannot be met."));
  }

  const Autonomous& f_;
  Tolerance tolerance_;
  double end_, step_ = 0, begun_ = 0, taken_ = 1, reached_ = 0;
  std::vector<double> from_, to_;                    ///< y at both ends of the last step
  std::array<std::vector<double>, kStages> slopes_;  ///< slopes of the stages of the last step
};

}  // namespace

std::vector<double> dormand_prince(const Autonomous& f, std::span<const double> start, double spacing,
                                   std::int64_t points, Tolerance tolerance) {
  const std::size_t width = start.size();
  std::vector<double> series(static_cast<std::size_t>(points) * width);
  std::copy(start.begin(), start.end(), series.begin());
  Stepper stepper(f, start, static_cast<double>(points - 1) * spacing, tolerance);
  for (std::int64_t n = 1; n < points; ++n) {
    const double t = static_cast<double>(n) * spacing;
    while (stepper.reached() < t) stepper.advance();
    stepper.sample(t, std::span(series).subspan(static_cast<std::size_t>(n) * width, width));
  }
  return series;
}

}  // namespace lagtape
