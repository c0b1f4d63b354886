#include "lagtape/data/baselines/theta.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lagtape {

namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Whether the autocorrelation at the period exceeds its bound from Bartlett's formula.
bool is_seasonal(std::span<const double> past, std::int64_t period) {
  constexpr double kNormal95 = 1.6448536269514722;  // one-sided 5 %, as in R's forecast::thetaf
  const double mean = mean_of(past);
  const auto covariance = [&](std::int64_t lag) {
    double sum = 0;
    for (std::size_t i = static_cast<std::size_t>(lag); i < past.size(); ++i)
      sum += (past[i] - mean) * (past[i - static_cast<std::size_t>(lag)] - mean);
    return sum;
  };
  const double variance = covariance(0);
  if (!(variance > 0)) return false;
  double squares = 0;
  for (std::int64_t lag = 1; lag < period; ++lag) squares += std::pow(covariance(lag) / variance, 2);
  const double bound = kNormal95 * std::sqrt((1 + 2 * squares) / static_cast<double>(past.size()));
  return std::abs(covariance(period) / variance) > bound;
}

/// The centered moving average over a period around row i.
double trend_at(std::span<const double> past, std::int64_t period, std::int64_t i) {
  const std::int64_t half = period / 2;
  double sum = 0;
  for (std::int64_t j = i - half; j <= i + half; ++j) {
    const bool is_shared = period % 2 == 0 && (j == i - half || j == i + half);
    sum += past[static_cast<std::size_t>(j)] * (is_shared ? 0.5 : 1);
  }
  return sum / static_cast<double>(period);
}

std::vector<double> indices_of(std::span<const double> past, std::int64_t period, bool is_factor) {
  std::vector<double> indices(static_cast<std::size_t>(period)), counts(indices.size());
  for (std::int64_t i = period / 2; i + period / 2 < std::ssize(past); ++i) {
    const double value = past[static_cast<std::size_t>(i)], trend = trend_at(past, period, i);
    const auto place = static_cast<std::size_t>(i % period);
    indices[place] += is_factor ? value / trend : value - trend;
    counts[place] += 1;
  }
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] /= counts[i];
  const double mean = mean_of(indices);
  for (double& index : indices) index = is_factor ? index / mean : index - mean;
  return indices;
}

/// Simple exponential smoothing: its level after the past, and its squared errors.
struct Smoothing {
  double level, errors;
};
Smoothing smoothed(std::span<const double> past, double alpha) {
  Smoothing result{past.front(), 0};
  for (const double value : past.subspan(1)) {
    const double error = value - result.level;
    result.errors += error * error;
    result.level += alpha * error;
  }
  return result;
}

/// The alpha with the least squared error: found on a grid, then by section search in its best interval.
double best_alpha(std::span<const double> past) {
  constexpr int kGrid = 20;
  double low = 0, high = 1, least = smoothed(past, 1).errors;
  int best = kGrid;
  for (int i = 0; i < kGrid; ++i)
    if (const double errors = smoothed(past, i / double{kGrid}).errors; errors < least) {
      least = errors;
      best = i;
    }
  low = std::max(best - 1, 0) / double{kGrid};
  high = std::min(best + 1, kGrid) / double{kGrid};
  for (int i = 0; i < 20; ++i) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3;
    (smoothed(past, left).errors < smoothed(past, right).errors ? high : low) =
        smoothed(past, left).errors < smoothed(past, right).errors ? right : left;
  }
  const double middle = (low + high) / 2;
  return smoothed(past, middle).errors < least ? middle : best / double{kGrid};
}

/// The slope of the least squares line through the numbers.
double slope_of(std::span<const double> past) {
  const double mean = mean_of(past), middle = static_cast<double>(past.size() - 1) / 2;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < past.size(); ++i) {
    const double x = static_cast<double>(i) - middle;
    products += x * (past[i] - mean);
    squares += x * x;
  }
  return squares > 0 ? products / squares : 0;
}

}  // namespace

double Seasonality::added(double value, std::int64_t row) const {
  if (indices.empty()) return value;
  const double index = indices[static_cast<std::size_t>(row % std::ssize(indices))];
  return is_factor ? value * index : value + index;
}

double Seasonality::removed(double value, std::int64_t row) const {
  if (indices.empty()) return value;
  const double index = indices[static_cast<std::size_t>(row % std::ssize(indices))];
  return is_factor ? value / index : value - index;
}

Seasonality seasonality_of(std::span<const double> past, std::int64_t period) {
  constexpr double kLeastFactor = 1e-4;
  if (period < 2 || std::ssize(past) <= 2 * period || !is_seasonal(past, period)) return {};
  if (std::ranges::min(past) > 0) {
    Seasonality factors{.indices = indices_of(past, period, true), .is_factor = true};
    if (std::ranges::min(factors.indices) > kLeastFactor) return factors;
  }
  return {.indices = indices_of(past, period, false), .is_factor = false};
}

std::vector<double> theta_forecast(std::span<const double> past, std::int64_t period, std::int64_t steps) {
  const Seasonality season = seasonality_of(past, period);
  std::vector<double> adjusted(past.begin(), past.end());
  for (std::int64_t i = 0; i < std::ssize(adjusted); ++i)
    adjusted[static_cast<std::size_t>(i)] = season.removed(adjusted[static_cast<std::size_t>(i)], i);
  constexpr double kLeastAlpha = 1e-10;
  const double alpha = std::max(best_alpha(adjusted), kLeastAlpha);
  const double level = smoothed(adjusted, alpha).level, drift = slope_of(adjusted) / 2;
  const double begun = (1 - std::pow(1 - alpha, std::ssize(past))) / alpha;
  std::vector<double> forecast;
  for (std::int64_t h = 0; h < steps; ++h)
    forecast.push_back(season.added(level + drift * (static_cast<double>(h) + begun), std::ssize(past) + h));
  return forecast;
}

}  // namespace lagtape
