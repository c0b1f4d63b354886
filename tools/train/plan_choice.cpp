#include "lagtape/tools/train/plan_choice.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/reversible.h"
#include "lagtape/optim/onednn_product.h"

namespace lagtape {

std::int64_t steps_at_once(const Experiment& experiment, const DataShape& data) {
  const std::int64_t truncate = experiment.train.truncate;
  return truncate > 0 ? std::min(truncate, data.length) : data.length;
}

std::string obstacle_to_reversing(const Model& model) {
  const std::vector<LayerSummary> layers = model.layers();
  for (std::size_t l = 0; l + 1 < layers.size(); ++l)
    for (const StepProgram& step : layers[l].steps)
      if (const UndoOrder order = undo_order(step); !order.obstacle.empty())
        return text_of("layer ", l, ": ", order.obstacle);
  return {};
}

ModelOp model_op(const Experiment& experiment, const Model& model, Ranks* ranks) {
  const TrainOptions& train = experiment.train;
  if (train.memory.plan == MemoryPlan::reversible) {
    if (const std::string obstacle = obstacle_to_reversing(model); !obstacle.empty()) {
      throw InputError({.file = experiment.where, .pointer = "/train/memory"}, Rule::not_supported,
                       text_of("plan reversible runs every layer backwards in time, but ", obstacle,
                               ". Give another plan, such as \"auto\"."));
    }
  }
  return ModelOp(model, {.plan = train.memory.plan,
                         .budget = train.memory.budget,
                         .ranks = ranks,
                         .large_product = fastest_large_product()});
}

PlanCost choose_plan(const Experiment& experiment, const ModelOp& op, std::int64_t batch, std::int64_t steps,
                     int threads) try {
  return op.choose(batch, steps, threads);
} catch (const InputError& error) {
  throw error.within({.file = experiment.where, .pointer = "/train/memory"});
}

}  // namespace lagtape
