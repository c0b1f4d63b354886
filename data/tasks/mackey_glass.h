#pragma once

#include "lagtape/data/generators/delay_series.h"

namespace lagtape {

/// The Mackey-Glass equation, chaotic at a delay of 17:
///   x'(t) = 0.2 x(t - 17) / (1 + x(t - 17)^10) - 0.1 x(t),   x(t) = x(0) for t <= 0
/// in steps of 0.25. Source: Mackey and Glass 1977; the protocol follows the tau-GRU paper, appendix H.
DelaySeries mackey_glass();

}  // namespace lagtape
