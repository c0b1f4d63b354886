#pragma once

#include <cstdint>

#include "lagtape/cells/cell.h"

namespace lagtape {

class JsonReader;

/// Long short-term memory with a forget gate and no peepholes (Hochreiter and Schmidhuber 1997; Gers et al.
/// 2000).
///
///     i = sigmoid(W_i h[n] + U_i x[n])      f = sigmoid(W_f h[n] + U_f x[n])
///     g = tanh(W_g h[n] + U_g x[n])         o = sigmoid(W_o h[n] + U_o x[n])
///     c[n+1] = f c[n] + i g
///     h[n+1] = o tanh(c[n+1])
///
/// Shapes: h, c [units], W_* [units, units], U_* [units, input], each with a bias of its own. Output: h[n+1].
/// Initialisation: everything from U(-1/sqrt(units), 1/sqrt(units)).
struct Lstm {
  std::int64_t units = 1;

  void read(JsonReader& reader);
  Layer build(std::int64_t input) const;
};

}  // namespace lagtape
