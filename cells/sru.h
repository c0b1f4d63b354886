#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// A recurrence without a recurrent matrix: gates with element-wise peepholes, and a highway around it.
/// Source: "Simple Recurrent Units for Highly Parallelizable Recurrence" (Lei et al. 2018), version 2 of its
/// code.
///
///     f = sigmoid(W_f x[n] + v_f c[n])
///     r = sigmoid(W_r x[n] + v_r c[n])
///     c[n+1] = f c[n] + (1 - f) (W x[n])
///     y = r c[n+1] + (1 - r) kappa x[n],    kappa = sqrt(1 + 2 exp(highway_bias))
///
/// Shapes: x [input], y, c, v_f, v_r [units], W, W_f, W_r [units, input], W_f and W_r with biases. Output: y.
/// Where input and units differ, W_s x[n] with W_s [units, input] takes the place of kappa x[n]. Initialization: W from
/// U(-a, a), a = sqrt(3 / input), W_f and W_r from sqrt(1/2) times that, W_s from kappa times that, v_f and v_r from
/// U(-sqrt(3/2), sqrt(3/2)), W_f.bias = 0, W_r.bias = highway_bias.
struct Sru {
  static const LayerEntry kEntry;

  std::int64_t units = 0;   ///< size of the state, from 1; must be given
  double highway_bias = 0;  ///< the initial value of W_r.bias

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
