#pragma once

#include <functional>

#include "lagtape/cells/models/model.h"
#include "lagtape/ops/recurrence/step/stack.h"
#include "lagtape/optim/ridge.h"

namespace lagtape {

/// Solves the read-out of a model by ridge regression on the outputs of the top layer, for all batches of `next`, until
/// one has no rows. Returns the mean squared error there. Throws InputError for another loss than mse and for layers of
/// whole sequences.
double solve_readout(const Ridge& ridge, Model& model, ThreadPool& pool,
                     const std::function<SequenceBatch()>& next);

}  // namespace lagtape
