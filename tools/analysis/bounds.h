#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/step/step_program.h"
#include "lagtape/tools/analysis/layer_bounds.h"

namespace lagtape {

/// A layer to bound.
struct BoundedLayer {
  const Json& options;            ///< its entry in "layers" of the experiment, with every default
  std::int64_t index_inside = 0;  ///< its position among the layers of the entry
  const StepProgram& program;
  const std::vector<Tensor>& weights;  ///< the step's weights, in f64
  std::int64_t lags = 0;               ///< lags 0 .. lags - 1 are bounded
  std::int64_t length = 0;             ///< maximum number of steps from the zero states to X_T
  /// The smallest number of a named value at the analyzed steps, if it was collected.
  std::function<std::optional<double>(const std::string& name)> smallest;
};

/// The bounds for the tau-GRU, LEM and UnICORNN. None for other cells, and for options that the theorems do not
/// cover.
LayerBounds bounds_of(const BoundedLayer& layer);

}  // namespace lagtape
