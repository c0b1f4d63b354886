#pragma once

#include <cstdint>
#include <string>

#include "lagtape/cells/models/model_op.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// Steps of a batch before its update: the longest sequence, or a segment of one.
std::int64_t steps_at_once(const Experiment& experiment, const DataShape& data);

/// The reason why the layers cannot run backwards in time, by their place in the model; empty when they can.
std::string obstacle_to_reversing(const Model& model);

/// The model's op with the experiment's plan and budget, for batches that ranks share if there are any. Throws
/// InputError "FILE: /train/memory: ..." when that plan is `reversible` and the model is not.
ModelOp model_op(const Experiment& experiment, const Model& model, Ranks* ranks = nullptr);

/// The plan by which a batch of so many sequences and steps keeps within the experiment's budget. Throws
/// InputError "FILE: /train/memory: ...", which says how much is needed, when none does.
PlanCost choose_plan(const Experiment& experiment, const ModelOp& op, std::int64_t batch, std::int64_t steps,
                     int threads);

}  // namespace lagtape
