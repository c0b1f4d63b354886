#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// The distribution of numbers. Non-finite numbers are counted separately.
struct Distribution {
  std::int64_t count = 0, not_finite = 0;
  double mean = 0, min = 0, max = 0;
  double low = 0, median = 0, high = 0;  ///< the quantiles 0.05, 0.5 and 0.95
  /// Whether the bins have equal widths on a log scale: all numbers are positive, and the largest is at least
  /// 100 times the smallest.
  bool log = false;
  std::vector<double> edges;         ///< bins + 1 edges, from the smallest to the largest number
  std::vector<std::int64_t> counts;  ///< count of each bin; their sum is `count`
  /// Centers of the prominent bins: the fullest bin within a tenth of the bins on both sides, with at least a
  /// tenth of the largest count.
  std::vector<double> peaks;
  std::vector<double> peak_shares;  ///< the fractions of the numbers in these bins
};

/// Throws InputError unless bins >= 1.
Distribution distribution_of(std::vector<double> values, std::int64_t bins);

}  // namespace lagtape
