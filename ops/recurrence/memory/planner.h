#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/recurrence/run/layer_runner.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape::recurrence {

/// Steps of a chunk where nothing else is asked for.
inline constexpr std::int64_t kDefaultChunk = 4 * SequenceOp::kRun;

/// In how many slices a batch is cut: a function of batch, units and program only, so that no result depends
/// on threads.
std::int64_t slice_count(const StackDefinition& stack, std::int64_t batch);

/// What the arrays of a slice hold when only windows are kept, and under a memory plan. Without first and
/// last step.
Extent evaluation_extent();
Extent training_extent(const PlanCost& plan);

/// Multiplications and additions of the products of a phase, a row and step.
double phase_flops(const LayerSchedule& code, const Phase& phase);

/// The bytes that may be used: the budget, or half of the machine's memory.
std::int64_t budget_of(const SequenceSettings& settings);

/// The fastest plan that fits the budget. Throws InputError that says how much the smallest needs.
PlanCost choose_plan(const std::vector<PlanCost>& plans, const SequenceSettings& settings);

}  // namespace lagtape::recurrence
