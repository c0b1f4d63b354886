#pragma once

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

/// Derives the ops of a layer from its step program: the forward ops, by reverse mode over the recorded step
/// their adjoints, and the ops that restore saved values and states that were not kept. `input_gradient`:
/// whether dL/dx is wanted.
LayerOps derive_ops(const StepProgram& program, bool input_gradient);

}  // namespace lagtape::recurrence
