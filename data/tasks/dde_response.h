#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/data/task.h"

namespace lagtape {

/// A delay equation with a forcing s, from h(t) = 0 for t <= 0. Source: the tau-GRU paper, appendix A.
struct DdeResponse {
  bool saturating = false;  ///< h' = -h + tanh(s - h(t - tau)), else h' = s - h(t - tau)
  std::int64_t delay = 50;  ///< tau in steps, >= 0
  double step = 0.01;
};

/// The forcing s(t): cos t for the linear equation, else the sum over n = 0..3 of 3^-n cos(4^n 2 t).
double dde_forcing(bool saturating, double t);

/// The response h at 0, step, ..., steps * step to the forcing s(t + shift), computed by a method of order 4
/// with steps of at most 0.01.
std::vector<double> dde_response(const DdeResponse& equation, double shift, std::int64_t steps);

}  // namespace lagtape
