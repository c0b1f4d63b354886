#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/delay.h"
#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

/// Gated recurrent unit with weighted time-delay feedback (tau-GRU): TauGru{.units = 16, .tau = 10}.
/// Source: "Gated Recurrent Neural Networks with Weighted Time-Delay Feedback", in its discrete form.
///
///     u  = tanh(W1 h[n] + U1 x[n])                   the direct part
///     z  = tanh(W2 h[n-m] + U2 x[n])                 the delayed part, m = floor(tau / dt)
///     g  = sigmoid(W3 h[n] + U3 x[n])                the gate
///     a  = sigmoid(W4 h[n] + U4 x[n])                the weighting of the delay
///     h[n+1] = (1 - dt g) h[n] + dt g (beta u + alpha a z)
///
/// With several delays each has a z and an a of its own (W2_1, U2_1, W4_1, ..., W2_2, ...), and the products
/// a z are added up. A trained delay is a parameter tau (tau_1, tau_2, ...), in steps; between two steps the
/// state is interpolated.
///
/// The form "code" follows a public implementation, for a tau that is a whole number of steps: where it is
/// above 0,
///
///     z  = tanh(W2 h[n+1-tau] + U2 x[n-tau])
///     a  = sigmoid(W4 h[n+1-tau] + U4 x[n-tau])
///
/// with zeros for both past values up to step n = tau.
///
/// Dropout in training: the states that enter the maps W1 to W4 are multiplied by masks, drawn anew at every
/// step, one for h[n] and one for each past state. The state that is carried on is not.
///
/// Shapes: x [input], h [units], Wi [units, units], Ui [units, input]; each W and each U has its own bias; tau [] or
/// [units]. Parts that are switched off have no parameters. Output: h[n+1]. Initialization: everything but tau from
/// U(-1/sqrt(units), 1/sqrt(units)).
struct TauGru {
  static const LayerEntry kEntry;

  std::int64_t units = 0;      ///< size of the state, from 1; must be given
  Delays tau = {};             ///< one or several, must be given; with 0, z reads h[n]
  double dt = 1;               ///< time step, > 0
  double alpha = 1;            ///< weight of z; with 0 there is neither z nor a
  double beta = 1;             ///< weight of u; with 0 there is no u
  bool weighting = true;       ///< false: a = 1
  bool gating = true;          ///< false: g = 1
  std::string form = "paper";  ///< "paper", "code"
  double dropout = 0;          ///< probability that a map does not see an element of the state, below 1
  StepTime reads = {};         ///< the input column with the length of each step, which multiplies dt

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
