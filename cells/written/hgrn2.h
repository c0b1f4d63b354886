#pragma once

#include <cstdint>

#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The gated linear recurrence whose state is the outer product of inputs and forget gates.
/// Source: "HGRN2: Gated Linear RNNs with State Expansion" (Qin et al. 2024), the recurrence with an expanded state.
///
///     f = g + (1 - g) sigmoid(W_f x[n] + b_f), g = `lower_bound`
///     i = W_i x[n] + b_i, o = silu(W_o x[n] + b_o)             all with d = units / heads numbers a head
///     S[n+1] = S[n] diag(f) + i (1 - f)^T
///     output = S[n+1] o
///
/// Shapes: x [input], S [heads, d, d], the output [units], W_* [units, input]. The lower bound is a number here; in the
/// paper those of a stack are trained together and rise with the layer. The norm and the map after the output are not
/// part of it. Initialization as in the authors' code: W_* Xavier uniform with gain 2^-2.5, biases 0.
struct Hgrn2 {
  static const LayerEntry kEntry;

  std::int64_t units = 0;  ///< size of the output, from 1; must be given
  std::int64_t heads = 1;  ///< matrices of state; they divide the units
  double lower_bound = 0;  ///< smallest value of the forget gate, in [0, 1)

  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
