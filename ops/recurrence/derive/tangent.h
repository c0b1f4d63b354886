#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// A weight of a tangent program, as a function of those of the step.
struct TangentWeight {
  enum class Kind : std::uint8_t {
    same,        ///< the step's weight
    direction,   ///< its derivative in a direction
    lag_below,   ///< the whole number of steps below a trained lag
    lag_above,   ///< ... and the one above
    lag_change,  ///< the derivative of a trained lag in a direction, 0 where it is clamped
  };
  Kind kind = Kind::same;
  int weight = -1;  ///< the index in the step
  int direction = -1;
  std::int64_t largest = 0;  ///< part of a lag
};

/// Forward mode: a step that carries, beside each state, its derivatives in several directions. Its output is
/// [y, d_1 y, .., d_P y], and its input, where that changes, [x, d_1 x, .., d_P x]. States on the grid become real.
struct TangentProgram {
  StepProgram program;
  std::vector<TangentWeight> weights;  ///< in the order of program.weights
};

/// Values that change besides weights.
struct TangentInputs {
  bool input = false;    ///< the input
  bool initial = false;  ///< the states before the first step, so that each has its derivatives
};

/// `changes[weight][direction]`: whether a weight changes in a direction. The derivatives of a state follow it. The
/// tangent of a tangent program has second derivatives.
TangentProgram tangent_of(const StepProgram& step, const std::vector<std::vector<bool>>& changes,
                          TangentInputs inputs);

/// A weight of a tangent program: the step's own, its derivative or a lag's. `changes[direction][weight]`.
Tensor tangent_weight(const TangentWeight& source, std::span<const Tensor> weights,
                      std::span<const std::vector<Tensor>> changes);

/// The weights of a tangent program. `changes[direction][weight]` are the derivatives of those of the step.
std::vector<Tensor> tangent_weights(const TangentProgram& tangent, std::span<const Tensor> weights,
                                    std::span<const std::vector<Tensor>> changes);

}  // namespace lagtape
