#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lagtape/ops/recurrence/memory/extent.h"
#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/schedule/layer_schedule.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape::recurrence {

/// The number of slices that a batch is cut into: a function of only batch, units, and program, so results do
/// not depend on the number of threads.
std::int64_t slice_count(const StackDefinition& stack, std::int64_t batch);

/// The steps that a slice's arrays hold when only windows are kept, and under a memory plan. First and last
/// step are left open.
Extent evaluation_extent();
Extent training_extent(const PlanCost& plan);

/// Work of a stack's layers that differs between plans: multiplications and additions of products, per row and
/// step.
struct StackWork {
  double forward = 0;
  double replay = 0;
  double undo = 0;
  bool reversible = true;  ///< whether every layer is

  void add(const StepProgram& program, const LayerSchedule& schedule);
};

/// The cost of each plan for a batch of the given size, the fastest plan first. `bytes` is the memory of a
/// plan.
std::vector<PlanCost> list_plans(const StackWork& work, std::int64_t batch, std::int64_t steps,
                                 const SequenceSettings& settings,
                                 const std::function<std::int64_t(const PlanCost&)>& bytes);

/// The fastest plan that fits the budget. Throws InputError stating the memory of the smallest plan.
PlanCost choose_plan(const std::vector<PlanCost>& plans, const SequenceSettings& settings);

}  // namespace lagtape::recurrence
