#include "lagtape/ops/recurrence/memory/planner.h"

#include <algorithm>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/system_memory.h"

namespace lagtape::recurrence {
std::int64_t slice_count(const StackDefinition& stack, std::int64_t batch) {
  std::int64_t widest = 1;
  for (const auto& layer : stack.layers)
    for (const auto& state : layer.states) widest = std::max(widest, state.shape.width());
  // Wide states fill the kernels with a tile of rows each; narrow ones need more rows to outweigh an
  // instruction's start.
  const std::int64_t rows = widest <= 32 ? 16 : 13;
  if (batch == 1) return 1;
  const std::int64_t slices = (batch + rows - 1) / rows;
  return slices + slices % 2;  // two workers are the commonest case
}

Extent evaluation_extent() {
  Extent extent;
  extent.run = SequenceOp::kRun;
  extent.chunk = kDefaultChunk;
  return extent;
}

Extent training_extent(const PlanCost& plan) {
  Extent extent = evaluation_extent();
  extent.chunk = plan.chunk;
  extent.checkpoint_interval = plan.checkpoint_interval;
  extent.slots = plan.slots;
  extent.backward = true;
  extent.undo = plan.plan == MemoryPlan::reversible;
  extent.keep_states = !extent.undo;
  extent.keep_saved = plan.plan == MemoryPlan::full || plan.plan == MemoryPlan::checkpoint;
  return extent;
}

std::int64_t budget_of(const SequenceSettings& settings) {
  return settings.budget > 0 ? settings.budget : system_memory() / 2;
}

double phase_flops(const LayerSchedule& code, const Phase& phase) {
  double flops = 0;
  for (const Stage& stage : phase)
    if (const auto* product = std::get_if<ProductStage>(&stage))
      flops += 2.0 * static_cast<double>(code.stacks[static_cast<std::size_t>(product->stack)].k *
                                         code.stacks[static_cast<std::size_t>(product->stack)].columns);
  return flops;
}

PlanCost choose_plan(const std::vector<PlanCost>& plans, const SequenceSettings& settings) {
  const std::int64_t budget = budget_of(settings);
  const PlanCost* smallest = nullptr;
  for (const PlanCost& cost : plans) {
    if (settings.plan != MemoryPlan::automatic && cost.plan != settings.plan) continue;
    if (cost.bytes <= budget) return cost;
    if (smallest == nullptr || cost.bytes < smallest->bytes) smallest = &cost;
  }
  const std::string needs = text_of(name_of(smallest->plan), " needs ", exact_bytes_of(smallest->bytes));
  const PlanCost& least = *std::ranges::min_element(plans, {}, &PlanCost::bytes);
  if (least.bytes <= budget)
    throw InputError(text_of("[memory] plan ", needs, ", which does not fit a budget of ",
                             exact_bytes_of(budget), ". MemoryPlan ", name_of(least.plan), " would, with ",
                             exact_bytes_of(least.bytes)));
  throw InputError(text_of("[memory] no plan fits a budget of ", exact_bytes_of(budget), ": plan ", needs,
                           ". Give a larger budget, fewer threads or a smaller batch"));
}

}  // namespace lagtape::recurrence
