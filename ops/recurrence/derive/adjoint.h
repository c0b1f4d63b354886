#pragma once

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// Derives the ops of a layer from its step program: the forward ops, by reverse mode over the recorded step
/// their adjoints, and the ops that restore saved values and states that were not kept. `input_gradient`:
/// whether dL/dx is wanted. `saved`: whether saved values, and the deltas that products read, are rounded to bf16.
LayerOps derive_ops(const StepProgram& program, bool input_gradient,
                    ProductFormat saved = ProductFormat::scalar);

/// A flag for each value of the program: whether the backward pass reads it rounded where saved values are in
/// bf16. These are the values that it would read for all gradients, dL/dx included, whether they are wanted or not.
std::vector<bool> rounded_values(const StepProgram& program);

/// A flag for each weight, where saved values are in bf16: whether the gradient of a vector or of a narrow matrix is a
/// sum of rounded adjoints, because a product of the step reads the same adjoints.
std::vector<bool> rounded_sums(const StepProgram& program);

}  // namespace lagtape::recurrence
