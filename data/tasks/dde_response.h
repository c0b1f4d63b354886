#pragma once

#include <vector>

#include "lagtape/data/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// A delay equation under a forcing s, from h(t) = 0 for t <= 0. Source: the tau-GRU paper, appendix A.
struct DdeResponse {
  bool saturating = false;  ///< h' = -h + tanh(s - h(t - tau)), else h' = s - h(t - tau)
  std::int64_t delay = 50;  ///< tau in steps, >= 0
  double step = 0.01;
};

/// s(t): cos t for the linear equation, else the sum over n = 0..3 of 3^-n cos(4^n 2 t).
double dde_forcing(bool saturating, double t);

/// h at 0, step, ..., steps * step under s(t + shift), by a method of order 4.
std::vector<double> dde_response(const DdeResponse& equation, double shift, std::int64_t steps);

/// The response at every step from the forcing at the same times, over 0..span. There is one forcing, so one
/// sequence, in every set, unless `random_shift` starts each at a time of its own.
TaskLoader read_dde_response(JsonReader& reader, const TaskHints& hints);

}  // namespace lagtape
