#include "lagtape/tools/forecast/forecast_shape.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

namespace lagtape {
namespace {

constexpr std::size_t kBins = 30;
using Rows = std::vector<std::vector<double>>;

bool is_whole(std::span<const double> piece) {
  return std::ranges::none_of(piece, [](double value) { return std::isnan(value); });
}

/// Adds |DFT|^2 / steps of a piece.
void add_powers(std::span<const double> row, std::vector<double>& powers) {
  const std::size_t n = row.size();
  const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(n),
               turn = 2 * std::numbers::pi / static_cast<double>(n);
  std::vector<double> windowed(n);
  std::vector<std::complex<double>> circle(n);
  for (std::size_t i = 0; i < n; ++i) {
    circle[i] = std::polar(1.0, -turn * static_cast<double>(i));
    windowed[i] = (row[i] - mean) * (0.5 - 0.5 * circle[i].real());
  }
  for (std::size_t k = 0; k < powers.size(); ++k) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += windowed[i] * circle[i * k % n];
    powers[k] += std::norm(sum) / static_cast<double>(n);
  }
}

/// The Hellinger distance of two lists of shares, from `first` on.
double distance_of(const std::vector<double>& a, const std::vector<double>& b, std::size_t first) {
  double of_a = 0, of_b = 0, common = 0;
  for (std::size_t i = first; i < a.size(); ++i) {
    of_a += a[i];
    of_b += b[i];
    common += std::sqrt(a[i] * b[i]);
  }
  return std::sqrt(std::max(0.0, 1 - common / std::sqrt(of_a * of_b)));
}

void find_valid_times(const Rows& forecasts, const Rows& truth, double deviation, ForecastShape& shape) {
  std::vector<double> times;
  for (std::size_t r = 0; r < truth.size(); ++r) {
    std::size_t step = 0;  // an error that is not a number is not a valid one, a missing truth is
    while (step < truth[r].size() &&
           (std::isnan(truth[r][step]) ||
            std::abs(forecasts[r][step] - truth[r][step]) <= kValidError * deviation))
      ++step;
    shape.valid_throughout += step == truth[r].size();
    times.push_back(static_cast<double>(step));
  }
  std::ranges::sort(times);
  const std::size_t n = times.size();
  shape.valid_mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(n);
  shape.valid_median = (times[(n - 1) / 2] + times[n / 2]) / 2;
}

void find_spectra(const Rows& forecasts, const Rows& truth, ForecastShape& shape) {
  const std::size_t steps = truth.front().size(), piece = std::min<std::size_t>(steps, kLongestPiece);
  std::vector<double> of(piece / 2 + 1), of_truth = of;
  double count = 0;
  for (std::size_t r = 0; r < truth.size(); ++r)
    for (std::size_t begin = 0; begin + piece <= steps; begin += piece) {
      const auto a = std::span(forecasts[r]).subspan(begin, piece),
                 b = std::span(truth[r]).subspan(begin, piece);
      if (!is_whole(a) || !is_whole(b)) continue;
      add_powers(a, of);
      add_powers(b, of_truth);
      ++count;
    }
  if (count == 0) return;
  for (std::vector<double>* powers : {&of, &of_truth})
    for (double& power : *powers) power /= count;
  shape.spectrum_distance = distance_of(of, of_truth, 1);
  shape.piece = static_cast<std::int64_t>(piece);
  shape.spectrum = std::move(of);
  shape.true_spectrum = std::move(of_truth);
}

void find_histograms(const Rows& forecasts, const Rows& truth, double least, double largest,
                     ForecastShape& shape) {
  for (std::size_t i = 0; i <= kBins; ++i)
    shape.edges.push_back(least + (largest - least) * static_cast<double>(i) / kBins);
  shape.histogram.assign(kBins, 0);
  shape.true_histogram.assign(kBins, 0);
  double count = 0;
  for (std::size_t r = 0; r < truth.size(); ++r)
    for (std::size_t i = 0; i < truth[r].size(); ++i) {
      if (std::isnan(truth[r][i]) || std::isnan(forecasts[r][i])) continue;
      const auto add = [&](double value, std::vector<double>& histogram) {
        const auto inner = shape.edges.begin() + 1;
        const auto bin = std::upper_bound(inner, shape.edges.end() - 1, value) - inner;
        ++histogram[static_cast<std::size_t>(bin)];
      };
      add(forecasts[r][i], shape.histogram);
      add(truth[r][i], shape.true_histogram);
      ++count;
    }
  for (std::vector<double>* histogram : {&shape.histogram, &shape.true_histogram})
    for (double& share : *histogram) share /= count;
  shape.histogram_distance = distance_of(shape.histogram, shape.true_histogram, 0);
}

}  // namespace

ForecastShape shape_of_forecasts(const Rows& forecasts, const Rows& truth) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN(), kFar = 1e300;
  ForecastShape shape{.valid_mean = kNone, .spectrum_distance = kNone, .histogram_distance = kNone};
  double count = 0, sum = 0, squares = 0, least = kFar, largest = -kFar;
  for (const std::vector<double>& row : truth)
    for (const double value : row) {
      if (std::isnan(value)) continue;
      ++count;
      sum += value;
      least = std::min(least, value);
      largest = std::max(largest, value);
    }
  if (count == 0) return shape;
  for (const std::vector<double>& row : truth)
    for (const double value : row)
      if (!std::isnan(value)) squares += (value - sum / count) * (value - sum / count);
  find_valid_times(forecasts, truth, std::sqrt(squares / count), shape);
  if (std::ssize(truth.front()) >= kLeastSpectrum) find_spectra(forecasts, truth, shape);
  if (largest > least) find_histograms(forecasts, truth, least, largest, shape);
  return shape;
}

}  // namespace lagtape
