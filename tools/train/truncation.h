#pragma once

#include "lagtape/cells/models/model_op.h"
#include "lagtape/data/dataset.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The message of truncated BPTT about a read-out that is the mean over all steps.
inline constexpr const char* kTruncatedMean =
    "segments of a sequence need a target at every step, or one that is read at the end. The model reads out "
    "the \"mean\" of all steps.";

/// Throws InputError that begins with the experiment's /train/truncate for a model or training set that does
/// not go with it: where sequences are read once, all are of one length, as the steps with gradients are the
/// last ones of a batch, and the model is one sequence op, as what is before them runs as in evaluation.
void check_truncation(const Experiment& experiment, const Dataset& train, ReadAt at, const ModelOp& op);

}  // namespace lagtape
