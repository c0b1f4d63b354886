#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/run/batch_request.h"
#include "lagtape/ops/recurrence/run/held_batch.h"

namespace lagtape::recurrence {

/// Cuts a batch into slices and runs them through the stack on the pool's workers. The caller has checked
/// shapes.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  /// Returns the loss (0 when not asked for).
  virtual double run(const BatchRequest& request) = 0;
  /// Runs the forward half, which gives outputs and final window, and holds the rest for the backward half.
  /// `input_gradient`: whether dL/dx may be requested. Throws InputError when no plan fits the budget.
  virtual std::unique_ptr<HeldBatch> hold(const BatchRequest& request, bool input_gradient) = 0;
  /// The costs of the memory plans, the fastest first.
  virtual std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) = 0;
  /// The same for held passes.
  virtual std::vector<PlanCost> held_plans(std::int64_t batch, std::int64_t steps, int threads) = 0;
  /// The largest number of bytes that were allocated at any time.
  virtual std::int64_t peak_bytes() const = 0;
};

/// `stack` must outlive the runner.
std::unique_ptr<BatchRunner> make_batch_runner(const StackDefinition& stack, Dtype dtype,
                                               const SequenceSettings& settings);

}  // namespace lagtape::recurrence
