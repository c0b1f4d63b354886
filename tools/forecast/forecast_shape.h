#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// Statistics comparing one target's forecasts with the truth. Errors alone say little once a chaotic system is
/// on another path.
struct ForecastShape {
  /// Steps until the error first exceeds `kValidError` standard deviations of the truth; all steps if it never
  /// does.
  double valid_mean = 0, valid_median = 0;
  std::int64_t valid_throughout = 0;  ///< forecasts that are valid to the end
  /// Mean powers by frequency, k cycles in a piece at k: |DFT|^2 / steps of pieces of at most `kLongestPiece` steps, without
  /// their means and under a Hann window. From pieces without a gap; empty where there are none, and for fewer than
  /// `kLeastSpectrum` steps.
  std::vector<double> spectrum = {}, true_spectrum = {};
  std::int64_t piece = 0;  ///< steps in a piece
  /// Fractions of all values in bins between `edges`, from the smallest to the largest truth; the outer bins
  /// include all values beyond.
  std::vector<double> edges = {}, histogram = {}, true_histogram = {};
  /// Hellinger distances of the spectra, normalized without frequency 0, and of the histograms: 0 if they are
  /// identical, 1 if they have nothing in common; NaN if there is none.
  double spectrum_distance = 0, histogram_distance = 0;
};

inline constexpr double kValidError = 0.4;
inline constexpr std::int64_t kLeastSpectrum = 8, kLongestPiece = 512;

/// Forecasts and the truth, one row each; NaN if the truth is unknown.
ForecastShape shape_of_forecasts(const std::vector<std::vector<double>>& forecasts,
                                 const std::vector<std::vector<double>>& truth);

}  // namespace lagtape
