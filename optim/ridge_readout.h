#pragma once

#include <functional>

#include "lagtape/cells/models/model.h"
#include "lagtape/ops/recurrence/step/stack.h"
#include "lagtape/optim/ridge.h"

namespace lagtape {

/// Sets the read-out of a model to the one that is best for all batches, which `next` gives until one has no rows, by ridge
/// regression on the outputs of the top layer. Returns the mean squared error there. Throws InputError for another loss than
/// mse and for layers of whole sequences.
double solve_readout(const Ridge& ridge, Model& model, ThreadPool& pool,
                     const std::function<SequenceBatch()>& next);

}  // namespace lagtape
