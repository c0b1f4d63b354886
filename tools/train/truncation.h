#pragma once

#include "lagtape/cells/models/model_op.h"
#include "lagtape/data/dataset.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// Throws InputError that begins with the experiment's /train/truncate for a model or training set that does
/// not go with it. Where sequences are read once, all must have one length, because the steps with gradients
/// are the last ones of a batch, and the model must be one sequence op, because the steps before them run as
/// in evaluation.
void check_truncation(const Experiment& experiment, const Dataset& train, ReadAt at, const ModelOp& op);

}  // namespace lagtape
