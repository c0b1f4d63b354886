#pragma once

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

// The values of the forward pass that the backward ops read, and the ops that restore them when they were not
// saved.

/// The forward ops in their order.
Ops forward_ops(const LayerOps& ops);

/// Decides which forward values are saved for the backward ops (in arrays `saved`), and puts the cheap ones that are
/// not saved before their readers, to be computed again. Returns the values that it saved.
std::vector<int> choose_saved_values(LayerOps& ops);

/// The same with copies rounded to bf16 of the values with a flag: the forward ops continue with the values themselves,
/// the backward ops read the copies. All of these are saved, also if nothing reads them, so that the choice of wanted
/// gradients does not change the others.
void round_saved_values(LayerOps& ops, const std::vector<bool>& rounded);

/// Fills in `replay`: the forward ops that lead to the saved values when the states are known.
void derive_replay(LayerOps& ops);

/// Fills in `undo`: the ops that lead from the states after a step to those before it, and to the saved
/// values; none when the step is not reversible.
void derive_undo(const StepProgram& program, LayerOps& ops);

}  // namespace lagtape::recurrence
