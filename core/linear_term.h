#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// A linear function of a step's inputs and of some earlier inputs, to which a network adds its output. It
/// reads x[n], then at each lag l the selected inputs of x[n - l].
struct LinearTerm {
  std::vector<std::int64_t> inputs = {};  ///< numbers of the inputs whose past is read
  std::vector<std::int64_t> lags = {};    ///< steps back, rising, from 1

  bool operator==(const LinearTerm&) const = default;
  /// The number of values that it reads, for a step with so many inputs.
  std::int64_t features(std::int64_t width) const {
    return width + static_cast<std::int64_t>(inputs.size() * lags.size());
  }
  /// The first step at which all of them are known.
  std::int64_t reach() const { return lags.empty() ? 0 : lags.back(); }
};

}  // namespace lagtape
