#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/run/batch_request.h"

namespace lagtape::recurrence {

/// A batch that ran forward and holds what its plan keeps, for all slices at once, until its backward half is
/// requested: for gradients that come from outside the stack. A tape that has the loss does not need it.
/// Everything that it was made from must outlive it.
class HeldBatch {
 public:
  virtual ~HeldBatch() = default;

  /// Runs the backward half. The held values are released after one use; a second call reruns the batch
  /// forward.
  virtual void backward(const BackwardRequest& gradients) = 0;
};

/// Cuts a batch into slices and runs them through the stack on the pool's workers. The caller has checked
/// shapes.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  /// Returns the loss (0 if not requested).
  virtual double run(const BatchRequest& request) = 0;
  /// Runs the forward half, which produces outputs and final window, and holds the rest for the backward half.
  /// `input_gradient`: whether dL/dx may be requested. Throws InputError if no plan fits the budget.
  virtual std::unique_ptr<HeldBatch> hold(const BatchRequest& request, bool input_gradient) = 0;
  /// The costs of the memory plans, fastest first.
  virtual std::vector<PlanCost> plans(std::int64_t batch, std::int64_t steps, int threads) = 0;
  /// The same for held passes.
  virtual std::vector<PlanCost> held_plans(std::int64_t batch, std::int64_t steps, int threads) = 0;
  /// The most bytes that were allocated at any time.
  virtual std::int64_t peak_bytes() const = 0;
};

/// `stack` must outlive the runner.
std::unique_ptr<BatchRunner> make_batch_runner(const StackDefinition& stack, Dtype dtype,
                                               const SequenceSettings& settings);

}  // namespace lagtape::recurrence
