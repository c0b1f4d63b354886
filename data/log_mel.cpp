#include "lagtape/data/log_mel.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace lagtape {

namespace {

constexpr double kLowest = 40, kFloor = 80, kLeast = 1e-10;
constexpr std::int64_t kBins = LogMel::kFft / 2 + 1;

// Slaney's mel scale: linear up to 1000 Hz, logarithmic above.
constexpr double kLinear = 200.0 / 3, kBreak = 1000, kBreakMel = kBreak / kLinear;
const double kLogStep = std::log(6.4) / 27;

double mel_of(double hertz) {
  return hertz < kBreak ? hertz / kLinear : kBreakMel + std::log(hertz / kBreak) / kLogStep;
}
double hertz_of(double mel) {
  return mel < kBreakMel ? mel * kLinear : kBreak * std::exp(kLogStep * (mel - kBreakMel));
}

/// The index of a sample in a sound mirrored at its ends, without repeating the end samples.
std::int64_t mirrored(std::int64_t at, std::int64_t size) {
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  at = ((at % period) + period) % period;
  return at < size ? at : period - at;
}

}  // namespace

LogMel::LogMel(std::int64_t rate) {
  constexpr double kTurn = 2 * std::numbers::pi / kFft;
  for (std::int64_t n = 0; n < kFft; ++n)
    window_.push_back(0.5 - 0.5 * std::cos(kTurn * static_cast<double>(n)));
  for (std::int64_t k = 0; k < kFft / 2; ++k)
    roots_.push_back(std::polar(1.0, -kTurn * static_cast<double>(k)));
  const double low = mel_of(kLowest), high = mel_of(static_cast<double>(rate) / 2);
  auto edge = [&](std::int64_t i) {
    return hertz_of(low + (high - low) * static_cast<double>(i) / (kBands + 1));
  };
  for (std::int64_t b = 0; b < kBands; ++b) {
    const double left = edge(b), middle = edge(b + 1), right = edge(b + 2);
    Band band{.first = 0, .weights = {}};
    for (std::int64_t bin = 0; bin < kBins; ++bin) {
      const double hertz = static_cast<double>(bin * rate) / kFft;
      const double weight = std::min((hertz - left) / (middle - left), (right - hertz) / (right - middle));
      if (weight <= 0) continue;
      if (band.weights.empty()) band.first = bin;
      band.weights.push_back(weight * 2 / (right - left));
    }
    bands_.push_back(std::move(band));
  }
}

/// A discrete Fourier transform in place: bit reversal, then butterflies of growing size.
void LogMel::transform(std::span<std::complex<double>> values) const {
  for (std::size_t i = 1, j = 0; i < kFft; ++i) {
    std::size_t bit = kFft >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t half = 1; half < kFft; half *= 2) {
    const std::size_t stride = kFft / 2 / half;
    for (std::size_t first = 0; first < kFft; first += 2 * half) {
      for (std::size_t k = 0; k < half; ++k) {
        const std::complex<double> root = roots_[k * stride], odd = values[first + half + k];
        const std::complex<double> turned(odd.real() * root.real() - odd.imag() * root.imag(),
                                          odd.real() * root.imag() + odd.imag() * root.real());
        values[first + half + k] = values[first + k] - turned;
        values[first + k] += turned;
      }
    }
  }
}

std::vector<double> LogMel::operator()(std::span<const float> samples) const {
  const auto size = static_cast<std::int64_t>(samples.size()), frames = 1 + size / kHop;
  std::vector<double> sound(static_cast<std::size_t>((frames - 1) * kHop + kFft));
  for (std::size_t n = 0; n < sound.size(); ++n) {
    const std::int64_t at = mirrored(static_cast<std::int64_t>(n) - kFft / 2, size);
    sound[n] = samples[static_cast<std::size_t>(at)];
  }
  std::vector<double> result(static_cast<std::size_t>(frames * kBands)), one(kBins), other(kBins);
  std::vector<std::complex<double>> values(kFft);
  // Each transform processes two frames, one as its real and one as its imaginary part. An odd last frame is
  // used twice.
  for (std::int64_t frame = 0; frame < frames; frame += 2) {
    const std::int64_t next = std::min(frame + 1, frames - 1);
    for (std::size_t n = 0; n < kFft; ++n) {
      values[n] = {sound[static_cast<std::size_t>(frame * kHop) + n] * window_[n],
                   sound[static_cast<std::size_t>(next * kHop) + n] * window_[n]};
    }
    transform(values);
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const std::complex<double> z = values[bin], mirror = std::conj(values[(kFft - bin) % kFft]);
      one[bin] = std::sqrt(std::norm(z + mirror)) / 2;
      other[bin] = std::sqrt(std::norm(z - mirror)) / 2;
    }
    for (std::size_t b = 0; b < kBands; ++b) {
      const auto& [first, weights] = bands_[b];
      auto sum = [&, first = first, &weights = weights](const std::vector<double>& magnitudes) {
        return std::inner_product(weights.begin(), weights.end(), magnitudes.begin() + first, 0.0);
      };
      result[static_cast<std::size_t>(frame * kBands) + b] = sum(one);
      result[static_cast<std::size_t>(next * kBands) + b] = sum(next == frame ? one : other);
    }
  }
  const double largest = std::max(*std::max_element(result.begin(), result.end()), kLeast);
  for (double& value : result) value = std::max(10 * std::log10(std::max(value, kLeast) / largest), -kFloor);
  return result;
}

}  // namespace lagtape
