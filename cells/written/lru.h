#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The linear recurrent unit: a diagonal linear recurrence of complex states, whose moduli stay below 1.
/// Source: "Resurrecting Recurrent Neural Networks for Long Sequences" (Orvieto et al. 2023), the
/// diagonal recurrence in its exponential form.
///
///     lambda = exp(-exp(nu_log) + i exp(theta_log))          complex, one for each of `states`
///     s[n+1] = lambda s[n] + exp(gamma_log) (B x[n])         complex, here the real states re and im
///     y = Re(C s[n+1]) + D x[n]
///
/// Shapes: x [input], y [units], B_re, B_im [states, input], C_re, C_im [units, states]. D is a vector, one number for
/// each channel, as in the paper's code; where input and units differ it is a matrix [units, input]. Initialization:
/// |lambda|^2 uniform between r_min^2 and r_max^2, angles from U(0, max_phase), gamma = sqrt(1 - |lambda|^2), B from
/// N(0, 1 / (2 input)), C from N(0, 1 / states), D from N(0, 1), a matrix D from N(0, 1 / input).
struct Lru {
  static const LayerEntry kEntry;

  std::int64_t units = 0;                ///< size of the output, from 1; must be given
  std::int64_t states = 64;              ///< complex numbers of state
  double r_min = 0, r_max = 1;           ///< the first moduli of lambda, 0 <= r_min < r_max <= 1
  double max_phase = 6.283185307179586;  ///< the largest first angle of lambda, > 0

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
