#include "lagtape/tools/fit/smoothing_spline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// Solves A x = b for a symmetric positive A, row i of which has A[i][i], A[i][i + 1] and A[i][i + 2].
std::vector<double> solve_banded(std::vector<std::array<double, 3>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::array<double, 3> row = a[i];
    for (std::size_t k = 1; k <= 2 && i + k < n; ++k) {
      const double factor = row[k] / row[0];
      for (std::size_t m = k; m <= 2; ++m) a[i + k][m - k] -= factor * row[m];
      b[i + k] -= factor * b[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = 1; k <= 2 && i + k < n; ++k) b[i] -= a[i][k] * b[i + k];
    b[i] /= a[i][0];
  }
  return b;
}

constexpr std::size_t kFolds = 5;

/// The mean squared error of readings that were left out.
double error_of(const std::vector<double>& times, const std::vector<double>& readings, double smoothing) {
  double error = 0;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<double> kept_times, kept;
    const auto is_kept = [&](std::size_t i) { return i % kFolds != fold || i == 0 || i + 1 == times.size(); };
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (!is_kept(i)) continue;
      kept_times.push_back(times[i]);
      kept.push_back(readings[i]);
    }
    const SmoothingSpline spline(kept_times, kept, smoothing);
    for (std::size_t i = 0; i < times.size(); ++i)
      if (!is_kept(i)) error += std::pow(spline.value(times[i]) - readings[i], 2);
  }
  return error;
}

}  // namespace

SmoothingSpline::SmoothingSpline(std::vector<double> times, const std::vector<double>& readings,
                                 double smoothing)
    : times_(std::move(times)), values_(readings), curvatures_(readings.size()), smoothing_(smoothing) {
  const std::size_t n = times_.size();
  bool ascend = n >= 3 && readings.size() == n;
  for (std::size_t i = 1; i < n; ++i) ascend = ascend && times_[i] > times_[i - 1];
  if (!ascend)
    throw InputError({.op = "spline"}, Rule::out_of_range, "at least three readings at ascending times",
                     text_of(n));
  std::vector<double> h;
  for (std::size_t i = 0; i + 1 < n; ++i) h.push_back(times_[i + 1] - times_[i]);
  // (R + smoothing Q^T Q) curvatures = Q^T y, at the inner times
  const auto q = [&](std::size_t row, std::size_t j) {
    return row == j ? 1 / h[j] : row == j + 1 ? -1 / h[j] - 1 / h[j + 1] : row == j + 2 ? 1 / h[j + 1] : 0.0;
  };
  std::vector<std::array<double, 3>> a(n - 2);
  std::vector<double> right(n - 2);
  for (std::size_t j = 0; j + 2 < n; ++j) {
    a[j] = {(h[j] + h[j + 1]) / 3, h[j + 1] / 6, 0};
    for (std::size_t row = j; row <= j + 2; ++row) {
      right[j] += q(row, j) * readings[row];
      for (std::size_t k = 0; k <= 2 && j + k + 2 < n; ++k)
        if (row >= j + k) a[j][k] += smoothing * q(row, j) * q(row, j + k);
    }
  }
  const std::vector<double> inner = solve_banded(std::move(a), std::move(right));
  for (std::size_t j = 0; j < inner.size(); ++j) {
    curvatures_[j + 1] = inner[j];
    for (std::size_t row = j; row <= j + 2; ++row) values_[row] -= smoothing * q(row, j) * inner[j];
  }
}

SmoothingSpline SmoothingSpline::chosen(const std::vector<double>& times,
                                        const std::vector<double>& readings) {
  const double spacing = (times.back() - times.front()) / static_cast<double>(times.size());
  double best = 0, least = INFINITY;
  // Readings are smoothed over about (smoothing * spacing)^(1/4): from a fraction of their distance to a hundred of them.
  for (double width = 0.3; width < 100; width *= 1.3) {
    const double smoothing = std::pow(width * spacing, 4) / spacing;
    const double error = error_of(times, readings, smoothing);
    if (error >= least) continue;
    least = error;
    best = smoothing;
  }
  return {times, readings, best};
}

std::size_t SmoothingSpline::interval_of(double t) const {
  const auto after = std::ranges::upper_bound(times_, t) - times_.begin();
  return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(after - 1, 0, std::ssize(times_) - 2));
}

double SmoothingSpline::value(double t) const {
  if (t < times_.front()) return values_.front() + (t - times_.front()) * slope(times_.front());
  if (t > times_.back()) return values_.back() + (t - times_.back()) * slope(times_.back());
  const std::size_t i = interval_of(t);
  const double h = times_[i + 1] - times_[i], a = (times_[i + 1] - t) / h, b = 1 - a;
  return a * values_[i] + b * values_[i + 1] +
         h * h / 6 * ((a * a * a - a) * curvatures_[i] + (b * b * b - b) * curvatures_[i + 1]);
}

double SmoothingSpline::slope(double t) const {
  t = std::clamp(t, times_.front(), times_.back());
  const std::size_t i = interval_of(t);
  const double h = times_[i + 1] - times_[i], a = (times_[i + 1] - t) / h, b = 1 - a;
  return (values_[i + 1] - values_[i]) / h +
         h / 6 * ((1 - 3 * a * a) * curvatures_[i] + (3 * b * b - 1) * curvatures_[i + 1]);
}

}  // namespace lagtape
