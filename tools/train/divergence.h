#pragma once

#include <span>
#include <string>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// Whether all numbers of a tensor are finite.
bool is_finite(const Tensor& tensor);

/// Finds the state of a batch that first ceased to be finite, for a loss that is not finite: "state h of layer
/// 0 (lstm) after time step 12 of row 3". The search uses no dropout or noise; the result is "the loss" if all
/// states stay finite, or if the model needs whole sequences.
std::string first_not_finite(const Model& model, ModelOp& op, const SequenceBatch& batch, ThreadPool& pool,
                             const Window* initial);

}  // namespace lagtape
