#include "lagtape/tools/analysis/distribution.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

/// The quantile of sorted values.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void fill_bins(Distribution& of, const std::vector<double>& values, std::int64_t bins) {
  constexpr double kManyTimes = 100;
  of.log = of.min > 0 && of.max >= kManyTimes * of.min;
  const auto scaled = [&](double value) { return of.log ? std::log(value) : value; };
  const double start = scaled(of.min), end = scaled(of.max);
  of.counts.assign(static_cast<std::size_t>(bins), 0);
  if (end == start) {
    // All numbers are equal: they lie in the middle of a bin, and that is their only peak.
    const double width = of.min == 0 ? 1 : std::abs(of.min) / 10;
    for (std::int64_t i = 0; i <= bins; ++i)
      of.edges.push_back(start + (static_cast<double>(i - bins / 2) - 0.5) * width);
    of.counts[static_cast<std::size_t>(bins / 2)] = of.count;
    of.peaks = {start};
    of.peak_shares = {1};
    return;
  }
  const double width = (end - start) / static_cast<double>(bins);
  for (std::int64_t i = 0; i <= bins; ++i) {
    const double edge = start + static_cast<double>(i) * width;
    of.edges.push_back(of.log ? std::exp(edge) : edge);
  }
  for (const double value : values) {
    const auto bin = static_cast<std::int64_t>((scaled(value) - start) / width);
    ++of.counts[static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, bins - 1))];
  }
}

void find_peaks(Distribution& of) {
  if (!of.peaks.empty()) return;
  const std::int64_t bins = std::ssize(of.counts), near = std::max<std::int64_t>(bins / 10, 1);
  const std::int64_t fullest = *std::max_element(of.counts.begin(), of.counts.end());
  for (std::int64_t i = 0; i < bins; ++i) {
    bool stands_out = of.counts[i] > 0 && 10 * of.counts[i] >= fullest;
    for (std::int64_t j = std::max<std::int64_t>(i - near, 0); j <= std::min(i + near, bins - 1); ++j)
      stands_out = stands_out && (j < i ? of.counts[j] < of.counts[i] : of.counts[j] <= of.counts[i]);
    if (!stands_out) continue;
    const double left = of.edges[i], right = of.edges[i + 1];
    of.peaks.push_back(of.log ? std::sqrt(left * right) : (left + right) / 2);
    of.peak_shares.push_back(static_cast<double>(of.counts[i]) / static_cast<double>(of.count));
  }
}

}  // namespace

Distribution distribution_of(std::vector<double> values, std::int64_t bins) {
  if (bins < 1)
    throw InputError({.op = "distribution"}, Rule::out_of_range, "there must be at least one bin",
                     text_of(bins));
  Distribution result;
  const auto end = std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
  result.not_finite = values.end() - end;
  values.erase(end, values.end());
  result.count = std::ssize(values);
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  result.min = values.front();
  result.max = values.back();
  for (const double value : values) result.mean += value / static_cast<double>(values.size());
  result.low = quantile(values, 0.05);
  result.median = quantile(values, 0.5);
  result.high = quantile(values, 0.95);
  fill_bins(result, values, bins);
  find_peaks(result);
  return result;
}

}  // namespace lagtape
