#include "lagtape/ops/recurrence/memory/planner.h"

#include <algorithm>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/ops/recurrence/memory/revolve.h"
#include "lagtape/ops/recurrence/step/reversible.h"

namespace lagtape::recurrence {
namespace {

/// The usable bytes: the budget, or half of the machine's memory.
std::int64_t budget_of(const SequenceSettings& settings) {
  return settings.budget > 0 ? settings.budget : system_memory() / 2;
}

/// Multiplications and additions of the products of a phase, per row and step.
double phase_flops(const LayerSchedule& schedule, const Phase& phase) {
  double flops = 0;
  for (const Stage& stage : phase)
    if (const auto* product = std::get_if<ProductStage>(&stage)) {
      const WeightStack& stack = schedule.stacks[static_cast<std::size_t>(product->stack)];
      flops += 2.0 * static_cast<double>(stack.k * stack.columns);
    }
  return flops;
}

/// Checkpoints in the fewest levels that fit the budget and, for each number of levels, with the checkpoint
/// distance that needs the least memory. `base` is a plan with its chunk.
PlanCost checkpoint_plan(const PlanCost& base, double forward_flops, std::int64_t steps,
                         const SequenceSettings& settings,
                         const std::function<std::int64_t(const PlanCost&)>& bytes) {
  constexpr int kMostLevels = 8;
  PlanCost best;
  for (int levels = std::max(1, settings.levels); levels <= kMostLevels; ++levels) {
    for (std::int64_t distance = settings.checkpoint_interval > 0 ? settings.checkpoint_interval : base.chunk;
         ; distance *= 2) {
      const std::int64_t intervals = (steps + distance - 1) / distance;
      PlanCost cost = base;
      cost.plan = MemoryPlan::checkpoint;
      cost.checkpoint_interval = distance;
      cost.slots = slots_for(intervals, levels);
      cost.levels = levels;
      cost.extra_flops = forward_flops * static_cast<double>(distance) *
                         static_cast<double>(runs_again(intervals, cost.slots));
      cost.bytes = bytes(cost);
      if (best.levels == 0 || cost.bytes < best.bytes) best = cost;
      if (settings.checkpoint_interval > 0 || distance >= steps) break;
    }
    if (settings.levels > 0 || best.bytes <= budget_of(settings)) break;
  }
  return best;
}

}  // namespace

std::int64_t slice_count(const StackDefinition& stack, std::int64_t batch) {
  std::int64_t widest = 1;
  for (const auto& layer : stack.layers)
    for (const auto& state : layer.states) widest = std::max(widest, state.shape.width());
  // For wide states, one tile of rows saturates the kernels; narrow ones need more rows to outweigh an
  // instruction's startup.
  const std::int64_t rows = widest <= 32 ? 16 : 13;
  if (batch == 1) return 1;
  const std::int64_t slices = (batch + rows - 1) / rows;
  return slices + slices % 2;  // two workers are the most common case
}

Extent evaluation_extent() {
  Extent extent;
  extent.run = kRun;
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

void StackWork::add(const StepProgram& program, const LayerSchedule& schedule) {
  forward += static_cast<double>(program.product_flops());
  replay += phase_flops(schedule, schedule.replay.before);
  for (const Phase* phase : in_backward_order(schedule.undo)) undo += phase_flops(schedule, *phase);
  reversible = reversible && undo_order(program).obstacle.empty();
}

std::vector<PlanCost> list_plans(const StackWork& work, std::int64_t batch, std::int64_t steps,
                                 const SequenceSettings& settings,
                                 const std::function<std::int64_t(const PlanCost&)>& bytes) {
  const double batch_steps = static_cast<double>(batch * steps);
  PlanCost full;
  full.plan = MemoryPlan::full;
  full.chunk = settings.chunk > 0 ? settings.chunk : kDefaultChunk;
  full.bytes = bytes(full);
  PlanCost states = full;
  states.plan = MemoryPlan::states;
  if (settings.chunk == 0) states.chunk = kRun;  // a longer one would only use more memory
  states.bytes = bytes(states);
  states.extra_flops = work.replay * batch_steps;
  std::vector<PlanCost> plans{full, states};
  if (work.reversible) {
    PlanCost backwards = states;  // in chunks of that length
    backwards.plan = MemoryPlan::reversible;
    backwards.bytes = bytes(backwards);
    backwards.extra_flops = work.undo * batch_steps;
    plans.push_back(backwards);
  }
  plans.push_back(checkpoint_plan(full, work.forward * static_cast<double>(batch), steps, settings, bytes));
  return plans;
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
    throw InputError(
        {.op = "memory"}, Rule::no_memory,
        text_of("plan ", needs, ", which does not fit a budget of ", exact_bytes_of(budget)), {},
        text_of("Plan ", name_of(least.plan), " would, with ", exact_bytes_of(least.bytes), "."));
  throw InputError({.op = "memory"}, Rule::no_memory,
                   text_of("no plan fits a budget of ", exact_bytes_of(budget), ": plan ", needs), {},
                   "Give a larger budget, fewer threads or a smaller batch");
}

}  // namespace lagtape::recurrence
