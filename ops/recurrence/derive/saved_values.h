#pragma once

#include "lagtape/ops/recurrence/derive/layer_ops.h"

namespace lagtape::recurrence {

// What the backward ops read of the forward pass, and how it comes back when it was not kept.

/// The forward ops in their order: pre, delay, loop, post.
Ops forward_ops(const LayerOps& ops);

/// Decides which forward values are kept for the backward ops (in arrays `saved`), and puts cheap ones that
/// are not in front of their readers, to be computed again.
void choose_saved_values(LayerOps& ops);

/// `replay`: the forward ops that lead to the kept values when the states are known.
void derive_replay(LayerOps& ops);

/// `undo_pre`, `undo_loop`, `undo_post`: what leads from the states after a step to those before it, and to
/// the kept values; nothing when the step is not reversible.
void derive_undo(const StepProgram& program, LayerOps& ops);

}  // namespace lagtape::recurrence
