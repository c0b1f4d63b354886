#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace lagtape {

/// Log-mel spectra of sound, one every 128 samples. A spectrum contains the Fourier magnitudes of 1024 samples
/// under a centered Hann window (the sound is mirrored at its ends), summed in 80 triangular bands of equal
/// area, evenly spaced on Slaney's mel scale from 40 Hz to half the sampling rate. Values are in dB relative to
/// the largest in the whole recording, and at least -80 dB. They equal librosa's melspectrogram (power 1) with
/// power_to_db (ref = max).
class LogMel {
 public:
  static constexpr std::int64_t kFft = 1024, kHop = 128, kBands = 80;

  explicit LogMel(std::int64_t rate);

  /// Returns [frames, 80] row by row, frames = 1 + samples / 128. There must be at least one sample.
  std::vector<double> operator()(std::span<const float> samples) const;

 private:
  struct Band {
    std::int64_t first;           ///< frequency bin of the first weight
    std::vector<double> weights;  ///< weights of consecutive bins
  };
  void transform(std::span<std::complex<double>> values) const;

  std::vector<double> window_;
  std::vector<std::complex<double>> roots_;  ///< exp(-2 pi i k / 1024), k < 512
  std::vector<Band> bands_;
};

}  // namespace lagtape
