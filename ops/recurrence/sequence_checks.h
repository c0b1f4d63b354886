#pragma once

#include <span>

#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

/// Throws InputError if the widths of neighboring layers do not match, for a state that cannot be on the grid,
/// and for settings that do not fit the stack or each other.
void check_stack(const StackDefinition& stack, const SequenceSettings& settings);

/// Throws InputError unless a batch's x, lengths, and draws and the states of an initial window (none: zeros)
/// fit the stack.
void check_batch(const StackDefinition& stack, Dtype dtype, const SequenceBatch& batch,
                 std::span<const Tensor> initial);
/// Throws InputError unless the stack has a loss and the batch has targets for it.
void check_targets(const StackDefinition& stack, Dtype dtype, const SequenceBatch& batch);

/// [B, T, q] at every step, else [B, q].
Shape output_shape(const StackDefinition& stack, const SequenceBatch& batch);

}  // namespace lagtape
