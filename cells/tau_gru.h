#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/cells/delay.h"
#include "lagtape/cells/layer_entry.h"

namespace lagtape {

/// Gated recurrent unit with weighted time-delay feedback.
/// Source: "Gated Recurrent Neural Networks with Weighted Time-Delay Feedback" (tau-GRU), in discrete form.
///
///     u  = tanh(W1 h[n] + U1 x[n])                   the direct part
///     z  = tanh(W2 h[n-m] + U2 x[n])                 the delayed part, m = floor(tau / dt)
///     g  = sigmoid(W3 h[n] + U3 x[n])                the gate
///     a  = sigmoid(W4 h[n] + U4 x[n])                the weighting of the delay
///     h[n+1] = (1 - dt g) h[n] + dt g (beta u + alpha a z)
///
/// With several delays each has a z and an a of its own (W2_1, U2_1, W4_1, ..., W2_2, ...), and a z stands
/// for their sum. A delay that is trained is a parameter tau (tau_1, tau_2, ...), in steps; what lies between
/// two steps is interpolated.
///
/// Form "code" is that of a public implementation, for a whole tau in steps: where the delay is above 0,
///
///     z  = tanh(W2 h[n+1-tau] + U2 x[n-tau])
///     a  = sigmoid(W4 h[n+1-tau] + U4 x[n-tau])
///
/// with zeros for both past values up to step n = tau.
///
/// Dropout in training: what the four maps see of h is multiplied by masks of the step's own, one for h[n]
/// and one for each past state; what is carried on is not.
///
/// Shapes: h [units], Wi [units, units], Ui [units, input]; each W and each U has a bias of its own; tau []
/// or [units]. What is switched off has no parameters. Output: h[n+1]. Initialisation: everything but tau
/// from U(-1/sqrt(units), 1/sqrt(units)).
struct TauGru {
  static const LayerEntry kEntry;

  std::int64_t units = 1;
  std::vector<Delay> tau = {0};  ///< with 0, z sees h[n]
  double dt = 1;                 ///< the time step, > 0
  double alpha = 1;              ///< the weight of z; with 0 there is neither z nor a
  double beta = 1;               ///< the weight of u; with 0 there is no u
  bool weighting = true;         ///< false: a = 1
  bool gating = true;            ///< false: g = 1
  std::string form = "paper";    ///< or "code"
  double dropout = 0;            ///< share of the state that the maps do not see, below 1

  void read(JsonReader& reader);
  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
