#pragma once

#include "lagtape/cells/models/model_op.h"
#include "lagtape/core/thread_pool.h"
#include "lagtape/data/task.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// Throws InputError before the first step for options that the data or the model do not support, targets that
/// do not fit the loss, a scaling that does not fit, and a batch that takes more than half of the memory.
void check_training(const Experiment& experiment, const Task& task, const Model& model, const ModelOp& op,
                    ThreadPool& pool);

}  // namespace lagtape
