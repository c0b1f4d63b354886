#pragma once

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

// The forward values that the backward ops read, and the ops that restore those that were not saved.

/// The forward ops in order.
Ops forward_ops(const LayerOps& ops);

/// Decides which forward values are saved (in `saved` arrays) for the backward ops, and inserts cheap ones that
/// are not saved before their readers, to be recomputed. Returns the values that it saved.
std::vector<int> choose_saved_values(LayerOps& ops);

/// The same, with bf16 copies of the flagged values: the forward ops continue with the values themselves; the
/// backward ops read the copies. All copies are saved, even if nothing reads them, so the choice of wanted
/// gradients does not change the other gradients.
void round_saved_values(LayerOps& ops, const std::vector<bool>& rounded);

/// Fills in `replay`: the forward ops that compute the saved values from known states.
void derive_replay(LayerOps& ops);

/// Fills in `undo`: the ops that compute the states before a step, and the saved values, from the states after
/// it; none if the step is not reversible.
void derive_undo(const StepProgram& program, LayerOps& ops);

}  // namespace lagtape::recurrence
