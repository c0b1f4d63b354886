#pragma once

#include <vector>

#include "lagtape/data/generators/dormand_prince.h"
#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// The FitzHugh-Nagumo neuron, a fast voltage v and a slow recovery w:
///   v' = v - v^3 / 3 - w + 0.5,   w' = 0.02 (v + 0.7 - 0.8 w),   w(0) = 0
/// v at t = 0, 0.4, ..., [points]. Source and protocol: Long Expressive Memory (LEM), whose data come from a
/// coarse solver (relative tolerance 1e-3, absolute 1e-6): mostly in phase, they are off by 0.04 r.m.s.
std::vector<double> fitzhugh_nagumo(double v, std::int64_t points, Tolerance tolerance);

/// Next-step prediction of v, v(0) ~ U(-1, 1).
TaskLoader read_fitzhugh_nagumo(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
