#pragma once

#include <vector>

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// A scalar series that is decided by its start value.
struct SeriesGenerator {
  std::vector<double> (*series)(double start, std::int64_t steps);  ///< the values at steps 0..steps
  std::int64_t transient;                                           ///< steps left out before the kept ones
};

/// Next-step prediction of such series from start values U(0, 1), one a sequence. Options: length (2000),
/// train (128), valid (128), test (1024).
TaskPlan read_series_task(JsonReader& reader, const SeriesGenerator& generator);

}  // namespace lagtape
