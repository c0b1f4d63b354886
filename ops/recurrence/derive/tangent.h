#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// A weight of a tangent program, as a function of the step's weights.
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

/// Forward mode: a step that carries, along with each state, its derivatives in several directions. Its output
/// is [y, d_1 y, .., d_P y], and its input, if that changes, [x, d_1 x, .., d_P x]. States on the grid become
/// real.
struct TangentProgram {
  StepProgram program;
  std::vector<TangentWeight> weights;  ///< in the order of program.weights
};

/// What changes besides the weights.
struct TangentInputs {
  bool input = false;    ///< the input
  bool initial = false;  ///< the states before the first step, so each has its derivatives
};

/// `changes[weight][direction]`: whether a weight changes in a direction. A state's derivatives follow it. The
/// tangent of a tangent program has second derivatives.
TangentProgram tangent_of(const StepProgram& step, const std::vector<std::vector<bool>>& changes,
                          TangentInputs inputs);

/// A weight of a tangent program: one of the step's weights, its derivative, or part of a lag.
/// `changes[direction][weight]`.
Tensor tangent_weight(const TangentWeight& source, std::span<const Tensor> weights,
                      std::span<const std::vector<Tensor>> changes);

/// The weights of a tangent program. `changes[direction][weight]` are the derivatives of the step's weights.
std::vector<Tensor> tangent_weights(const TangentProgram& tangent, std::span<const Tensor> weights,
                                    std::span<const std::vector<Tensor>> changes);

}  // namespace lagtape
