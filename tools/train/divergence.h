#pragma once

#include <span>
#include <string>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// Whether all numbers of a tensor are finite.
bool is_finite(const Tensor& tensor);

/// Says which state of a batch whose loss is not finite ceased to be finite first, and where: "state h of
/// layer 0 (lstm) after time step 12 of row 3". It is looked for without dropout and noise; "the loss" when
/// all states stay finite then, or the model needs whole sequences.
std::string first_not_finite(const Model& model, ModelOp& op, const SequenceBatch& batch, ThreadPool& pool,
                             const Window* initial);

}  // namespace lagtape
