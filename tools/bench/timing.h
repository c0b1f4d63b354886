#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace lagtape::bench {

/// Microseconds a time step over the repeats.
struct Timing {
  double median = 0, min = 0, max = 0;
};

inline Timing timing_of(std::vector<double> microseconds) {
  std::sort(microseconds.begin(), microseconds.end());
  const std::size_t n = microseconds.size();
  const double median =
      n % 2 == 1 ? microseconds[n / 2] : (microseconds[n / 2 - 1] + microseconds[n / 2]) / 2;
  return {.median = median, .min = microseconds.front(), .max = microseconds.back()};
}

/// Microseconds that a piece of work took.
template <class Work>
double microseconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace lagtape::bench
