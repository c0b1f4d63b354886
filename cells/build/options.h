#pragma once

#include <limits>

namespace lagtape {

struct LayerEntry;

/// The initial value of a number without a default, so that its absence is noticed.
inline constexpr double kNotSet = std::numeric_limits<double>::quiet_NaN();

/// Throws InputError for options in a layer's struct that would be errors in JSON, with the same messages:
/// "tau_gru: /units: expected integer >= 1 and <= 65536, got 0".
void require_valid(const LayerEntry& entry, const void* options);

/// The same for a struct; its `build` calls this first.
template <class Options>
void require_valid(const Options& options) {
  require_valid(Options::kEntry, &options);
}

}  // namespace lagtape
