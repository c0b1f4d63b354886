#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The liquid time-constant network: a leaky state whose rate and target follow a function of input and state.
/// Source: "Liquid Time-constant Networks" (Hasani et al. 2021), the neurons' equation and its fused solver.
///
///     dh/dt = -(1 / tau + f) h + f A, f = sigmoid(W h + U x + b)
///     h <- (h + d f A) / (1 + d (1 / tau + f)), `unfolds` times a step, d = t / unfolds          the paper's fused solver
///
/// t is 1, or with `elapsed` the last input, the time since the step before, which f then does not see. 1 / tau =
/// softplus(w). Shapes: x [input], h, w, A, the output [units], W [units, units], U [units, input]. f is one layer of
/// sigmoids, which keeps it above 0; the authors' code has one for each pair of neurons. The paper prints no first
/// values; here W and U are Xavier uniform, b = 0, A from U(-1, 1) and tau = 1.
struct Ltc {
  static const LayerEntry kEntry;

  std::int64_t units = 0;    ///< size of the state, from 1; must be given
  std::int64_t unfolds = 6;  ///< steps of the solver for each step of the sequence
  bool elapsed = false;      ///< whether the last input is the time since the step before

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
