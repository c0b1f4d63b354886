#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/data/generators/dormand_prince.h"
#include "lagtape/data/task.h"

namespace lagtape {

/// The FitzHugh-Nagumo neuron with a fast voltage v and a slow recovery w:
///   v' = v - v^3 / 3 - w + 0.5,   w' = 0.02 (v + 0.7 - 0.8 w),   w(0) = 0
/// Returns v at t = 0, 0.4, ..., [points]. Source and protocol: Long Expressive Memory (LEM). The paper's data
/// come from a coarse solver (relative tolerance 1e-3, absolute 1e-6); they differ from the exact solution by
/// 0.04 r.m.s., mostly in phase.
std::vector<double> fitzhugh_nagumo(double v, std::int64_t points, Tolerance tolerance);

}  // namespace lagtape
