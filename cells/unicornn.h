#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/cells/layer_entry.h"

namespace lagtape {

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
///
/// Residual stacking (Section 2, "res-UnICORNN"): with S layers skipped, the layers l > S have V x + b +
/// Lambda y_(l-S-1) in the place of V x + b, y_0 the input of the lowest. Lambda [units, width of y_(l-S-1)].
/// A layer hands on what those above it need: its output is then its own y[n+1] and after it those of layers
/// below, the nearest first.
///
/// Initialisation: w from U(0, 1), c from U(-0.1, 0.1), b = 0, V and Lambda from U(-r, r) with r = sqrt(6 /
/// (65 width of what they multiply)).
struct Unicornn {
  static const LayerEntry kEntry;

  static constexpr Arithmetic kArithmetic = Arithmetic::grid;

  std::int64_t units = 1;
  std::int64_t layers = 3;
  std::vector<double> dt;              ///< one, or one a layer; > 0
  double alpha = 0;                    ///< >= 0, the oscillators' own frequency
  double dropout = 0.1;                ///< of every layer's output, in [0, 1)
  bool train_c = true;                 ///< false: c keeps its first values
  std::int64_t residual_stacking = 0;  ///< S, the layers skipped; 0: none

  void read(JsonReader& reader);
  std::vector<Layer> build(std::int64_t input) const;

 private:
  /// Of what the layers hand on, y_0 .. y_layers by their numbers: the lists, the widths.
  std::vector<std::int64_t> handed_on(std::int64_t layer) const;
  std::int64_t width_of(std::int64_t y, std::int64_t input) const { return y == 0 ? input : units; }
  Layer build_layer(std::int64_t layer, std::int64_t input) const;
};

}  // namespace lagtape
