#pragma once

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// Derives the ops of a layer from its step program: the forward ops, their adjoints by reverse mode over the
/// recorded step, and the ops that restore saved values and states that were not kept. `input_gradient`:
/// whether dL/dx is wanted. `saved`: whether saved values, and the deltas that products read, are rounded to
/// bf16.
LayerOps derive_ops(const StepProgram& program, bool input_gradient,
                    ProductFormat saved = ProductFormat::scalar);

/// A flag per program value: whether the backward pass reads a rounded copy when saved values are in bf16.
/// These are the values that it would read for all gradients, including dL/dx, whether or not they are wanted.
std::vector<bool> rounded_values(const StepProgram& program);

/// A flag per weight, when saved values are in bf16: whether the gradient of a vector or narrow matrix is a sum
/// of rounded adjoints because a product of the step reads the same adjoints.
std::vector<bool> rounded_sums(const StepProgram& program);

}  // namespace lagtape::recurrence
