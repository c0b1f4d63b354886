#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lagtape::recurrence {

/// Copies a state of the current step, or of several previous steps, which then go through a ring.
template <class T>
struct StateCopy {
  T* to;
  const T* from;
  std::int64_t count;
  std::vector<std::vector<T>> start;  // the oldest first, where `to` starts
  std::vector<T> between;
  std::size_t oldest = 0;

  void reset() {
    std::ranges::copy(start.front(), to);
    oldest = 0;
    for (std::size_t i = 1; i < start.size(); ++i)
      std::ranges::copy(start[i], between.begin() + static_cast<std::ptrdiff_t>((i - 1) * start[i].size()));
  }
  void advance() {
    if (between.empty()) {
      std::copy_n(from, count, to);
      return;
    }
    T* const slot = between.data() + oldest;
    std::copy_n(slot, count, to);
    std::copy_n(from, count, slot);
    oldest = (oldest + static_cast<std::size_t>(count)) % between.size();
  }
};

}  // namespace lagtape::recurrence
