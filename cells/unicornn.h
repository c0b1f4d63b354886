#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/cells/build/layer_entry.h"
#include "lagtape/cells/build/recorder.h"

namespace lagtape {

/// Undamped independent controlled oscillatory network: layers of oscillators that do not see each other.
/// Source: "UnICORNN: A recurrent model for learning very long time dependencies" (Rusch and Mishra 2021),
/// Equation 6.
///
///     s      = dt sigmoid(c)                               the effective time step of each unit
///     z[n+1] = z[n] - s (tanh(w y[n] + V x[n] + b) + alpha y[n])
///     y[n+1] = y[n] + s z[n+1]
///
/// Shapes: x [input], y, z, w, b, c [units], V [units, input]; all products but V x are element-wise. The x
/// of a layer is the y[n+1] of the layer below, multiplied in training by a dropout mask that is drawn once a
/// sequence. Output: y[n+1]. A step can be undone, exactly so with the states on the grid, which is the
/// default.
///
/// Residual stacking (Appendix C.5, Equation 75, "res-UnICORNN"): with S layers skipped, the layers l > S
/// have V x + b + Lambda y_(l-S-1) in the place of V x + b, where y_0 is the input of the lowest layer.
/// Lambda [units, width of y_(l-S-1)]. A layer passes on the outputs that layers above it need: its output is
/// its own y[n+1], followed by those of the layers below, the nearest first.
///
/// Initialization: w from U(0, 1), c from U(-0.1, 0.1), b = 0, V and Lambda [units, k] from U(-r, r) with r =
/// sqrt(6 / (65 k)).
struct Unicornn {
  static const LayerEntry kEntry;

  /// The states are on the grid unless "arithmetic" says otherwise.
  static constexpr Arithmetic kArithmetic = Arithmetic::grid;

  std::int64_t units = 0;  ///< oscillators of a layer, from 1; must be given
  std::int64_t layers = 3;
  std::vector<double> dt = {};         ///< one time step, or one for each layer, > 0; must be given
  double alpha = 0;                    ///< the oscillators' own restoring force, >= 0
  double dropout = 0.1;                ///< probability of dropout in the output of every layer, below 1
  bool train_c = true;                 ///< false: c keeps its first values
  std::int64_t residual_stacking = 0;  ///< S, the number of layers skipped; 0: no residual stacking
  StepTime reads = {};  ///< the column of the input with the length of each step, which multiplies dt

  std::vector<Layer> build(std::int64_t input) const;

 private:
  /// The numbers of the outputs y_0 .. y_layers that a layer passes on: its own first, then the nearest.
  std::vector<std::int64_t> passed_on(std::int64_t layer) const;
  /// The width of the output y_0 .. y_layers of that number.
  std::int64_t width_of(std::int64_t y, std::int64_t input) const { return y == 0 ? input : units; }
  Layer build_layer(std::int64_t layer, std::int64_t input) const;
};

}  // namespace lagtape
