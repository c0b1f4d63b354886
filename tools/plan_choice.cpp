#include "lagtape/tools/plan_choice.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape {

std::int64_t steps_at_once(const Experiment& experiment, const DataShape& data) {
  const std::int64_t truncate = experiment.train.truncate;
  return truncate > 0 ? std::min(truncate, data.length) : data.length;
}

PlanCost choose_plan(const Experiment& experiment, const ModelOp& op, std::int64_t batch, std::int64_t steps,
                     int threads) try {
  return op.choose(batch, steps, threads);
} catch (const InputError& error) {
  throw InputError(concat(experiment.where, ": /train/memory: ", error.what()));
}

}  // namespace lagtape
