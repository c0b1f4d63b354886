#include "lagtape/ops/delay/observed_history.h"

#include <algorithm>

namespace lagtape {

std::vector<double> slopes_of(const ObservedHistory& readings) {
  const std::vector<double>&t = readings.times, &y = readings.values;
  const std::size_t n = t.size();
  std::vector<double> slopes(n);
  const auto rise = [&](std::size_t i) { return (y[i + 1] - y[i]) / (t[i + 1] - t[i]); };
  if (n == 2) return {rise(0), rise(0)};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = std::clamp<std::size_t>(i, 1, n - 2);
    const double width = t[at + 1] - t[at - 1], bend = (rise(at) - rise(at - 1)) / width;
    slopes[i] = rise(at - 1) + bend * (2 * t[i] - t[at - 1] - t[at]);
  }
  return slopes;
}

std::array<double, 3> read_history(const ObservedHistory& readings, const std::vector<double>& slopes,
                                   double s) {
  const std::vector<double>&t = readings.times, &y = readings.values;
  for (const std::size_t end : {std::size_t{0}, t.size() - 1})
    if (end == 0 ? s <= t[end] : s >= t[end]) return {y[end] + slopes[end] * (s - t[end]), slopes[end], 0};
  const auto k = static_cast<std::size_t>(std::ranges::upper_bound(t, s) - t.begin()) - 1;
  const double w = t[k + 1] - t[k], u = (s - t[k]) / w, rise = y[k + 1] - y[k], f0 = w * slopes[k],
               f1 = w * slopes[k + 1];
  const double square = 3 * rise - 2 * f0 - f1, cube = f0 + f1 - 2 * rise;
  return {y[k] + u * (f0 + u * (square + u * cube)), (f0 + u * (2 * square + 3 * u * cube)) / w,
          (2 * square + 6 * u * cube) / (w * w)};
}

}  // namespace lagtape
