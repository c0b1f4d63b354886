#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// Steps of a batch before its update: its longest sequence, or a segment of it.
std::int64_t steps_at_once(const Experiment& experiment, const DataShape& data);

/// The reason why the layers cannot run backward in time, with the layer's place in the model; empty if they
/// can.
std::string obstacle_to_reversing(const Model& model);

/// The model's op with the experiment's plan and budget, for batches that ranks share if there are any. Throws
/// InputError "FILE: /train/memory: ..." if that plan is `reversible` and the model is not.
ModelOp model_op(const Experiment& experiment, const Model& model, Ranks* ranks = nullptr);

/// The plan with which a batch of this many sequences and steps stays within the experiment's budget. Throws
/// InputError "FILE: /train/memory: ...", stating how much is needed, if none does.
PlanCost choose_plan(const Experiment& experiment, const ModelOp& op, std::int64_t batch, std::int64_t steps,
                     int threads);

}  // namespace lagtape
