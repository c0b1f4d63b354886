#pragma once

#include "lagtape/cells/build/cell.h"

namespace lagtape {

/// A per-step layer with its directional derivative: from [x, dx] to [y, dy]. Each parameter is followed by its
/// direction, each state by its derivative.
Layer tangent_layer(const Layer& layer);

}  // namespace lagtape
