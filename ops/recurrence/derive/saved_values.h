#pragma once

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

// The values of the forward pass that the backward ops read, and the ops that restore them when they were not
// saved.

/// The forward ops in their order.
Ops forward_ops(const LayerOps& ops);

/// Decides which forward values are saved for the backward ops (in arrays `saved`), and puts the cheap ones
/// that are not saved in front of their readers, to be computed again.
void choose_saved_values(LayerOps& ops);

/// Fills in `replay`: the forward ops that lead to the saved values when the states are known.
void derive_replay(LayerOps& ops);

/// Fills in `undo`: the ops that lead from the states after a step to those before it, and to the saved
/// values; none when the step is not reversible.
void derive_undo(const StepProgram& program, LayerOps& ops);

}  // namespace lagtape::recurrence
