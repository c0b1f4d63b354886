#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// Leaky integrate-and-fire neurons, whose thresholds may adapt, with delays that are trained. Sources: "SuperSpike"
/// (Zenke and Ganguli 2018) for the gradient of a spike; "Long short-term memory and learning-to-learn in networks of
/// spiking neurons" (Bellec et al. 2018), Equations 1 to 3, for adaptive thresholds; "DelRec" (2025) for trained delays
/// in the recurrence.
///
///     v[n+1] = beta v[n] - t[n] s[n] + W x[n - d] + b + R s[n - e]            reset by subtraction
///     t[n] = threshold + strength a[n], a[n+1] = rho a[n] + (1 - rho) s[n]     `adaptive`; else t = threshold
///     s[n+1] = 1 where v[n+1] > t[n+1], else 0; derivative of `surrogate`
///
/// d, one number for each input, is trained between 0 and `input_delay`, and e, one for each neuron, between 1 and
/// `recurrent_delay`; between steps they interpolate. An option of 0 means without. No gradient goes through the reset,
/// as in snnTorch. Shapes: x [input], v, a, s and the output [units], W [units, input], R [units, units]. beta and rho are
/// trained and clamped to [0, 1]. Initialization: W, b and R from U(-1/sqrt(k), 1/sqrt(k)) with the inputs k of a
/// matrix, beta 0.9, rho exp(-1/200), delays evenly from their range.
struct Lif {
  static const LayerEntry kEntry;

  std::int64_t units = 0;                  ///< number of neurons, from 1; must be given
  bool adaptive = false;                   ///< whether thresholds rise with spikes
  bool recurrent = true;                   ///< whether neurons read each other's spikes
  double threshold = 1;                    ///< threshold of a neuron that has not spiked
  double strength = 1.8;                   ///< rise of an `adaptive` threshold
  std::int64_t input_delay = 0;            ///< largest delay of an input, in steps; 0: without
  std::int64_t recurrent_delay = 0;        ///< largest delay of a spike beyond one step; 0: without
  std::string surrogate = "fast_sigmoid";  ///< the function whose derivative replaces that of a spike
  double slope = 25;                       ///< slope of that function

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
