#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/cells/cell.h"

namespace lagtape {

class JsonReader;

/// Undamped independent controlled oscillatory network: layers of oscillators that do not see each other.
/// Source: "UnICORNN: A recurrent model for learning very long time dependencies" (Rusch and Mishra 2021),
/// Equation 4.
///
///     s      = dt sigmoid(c)                                       the effective time step of each unit
///     z[n+1] = z[n] - s (tanh(w y[n] + V x[n] + b) + alpha y[n])
///     y[n+1] = y[n] + s z[n+1]
///
/// Shapes: y, z, w, b, c [units], V [units, input]; products but V's are element-wise. A layer's x is the
/// y[n+1] of the layer below, in training times a mask of dropout that is drawn once a sequence. Output:
/// y[n+1]. A step can be undone, exactly so with the states on the grid, which is the default.
/// Initialisation: w from U(0, 1), c from U(-0.1, 0.1), b = 0, V from U(-r, r) with r = sqrt(6 / (65 input)).
struct Unicornn {
  static constexpr Arithmetic kArithmetic = Arithmetic::grid;

  std::int64_t units = 1;
  std::int64_t layers = 3;
  std::vector<double> dt;  ///< one, or one a layer; > 0
  double alpha = 0;        ///< >= 0, the oscillators' own frequency
  double dropout = 0.1;    ///< of every layer's output, in [0, 1)
  bool train_c = true;     ///< false: c keeps its first values

  void read(JsonReader& reader);
  std::vector<Layer> build(std::int64_t input) const;

 private:
  Layer build_layer(std::int64_t input, double dt) const;
};

}  // namespace lagtape
