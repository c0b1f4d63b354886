#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace lagtape::bench {

/// Statistics over the repeats, in microseconds per time step unless stated otherwise.
struct Timing {
  double median = 0, min = 0, max = 0;
};

inline Timing timing_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const std::size_t n = times.size();
  const double median = n % 2 == 1 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
  return {.median = median, .min = times.front(), .max = times.back()};
}

/// The duration of a piece of work in microseconds.
template <class Work>
double microseconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace lagtape::bench
