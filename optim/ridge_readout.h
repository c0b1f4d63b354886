#pragma once

#include <functional>

#include "lagtape/cells/models/model.h"
#include "lagtape/ops/recurrence/step/stack.h"
#include "lagtape/optim/ridge.h"

namespace lagtape {

/// Solves for a model's read-out by ridge regression on the outputs of the top layer, over all batches of
/// `next` until an empty one. Returns its mean squared error. Throws InputError for a loss other than mse and
/// for whole-sequence layers.
double solve_readout(const Ridge& ridge, Model& model, ThreadPool& pool,
                     const std::function<SequenceBatch()>& next);

}  // namespace lagtape
