#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// Statistics that forecasts of one target share with the truth. Errors alone say little once a chaotic
/// system is on another path.
struct ForecastShape {
  /// Steps until the error is first above `kValidError` standard deviations of the truth; all steps where it never is.
  double valid_mean = 0, valid_median = 0;
  std::int64_t valid_throughout = 0;  ///< forecasts that are valid to their end
  /// Mean powers by frequency, k cycles in a piece at k: |DFT|^2 / steps of pieces of at most `kLongestPiece` steps, without
  /// their means and under a Hann window. From pieces without a gap; empty where there are none, and for fewer than
  /// `kLeastSpectrum` steps.
  std::vector<double> spectrum = {}, true_spectrum = {};
  std::int64_t piece = 0;  ///< steps of a piece
  /// Shares of all values in bins between `edges`, those of the least and largest truth; the outer ones include all
  /// values beyond.
  std::vector<double> edges = {}, histogram = {}, true_histogram = {};
  /// Hellinger distances of the spectra, as shares of their sums without frequency 0, and of the histograms: 0 where they
  /// are alike, 1 where they have nothing in common; NaN where there is none.
  double spectrum_distance = 0, histogram_distance = 0;
};

inline constexpr double kValidError = 0.4;
inline constexpr std::int64_t kLeastSpectrum = 8, kLongestPiece = 512;

/// Forecasts and the truth, a row each; NaN where there is no truth.
ForecastShape shape_of_forecasts(const std::vector<std::vector<double>>& forecasts,
                                 const std::vector<std::vector<double>>& truth);

}  // namespace lagtape
