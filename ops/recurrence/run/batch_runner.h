#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lagtape/ops/recurrence/memory/memory_plan.h"
#include "lagtape/ops/recurrence/run/batch_request.h"

namespace lagtape::recurrence {

/// A batch that ran forward and holds what its plan keeps, of all slices at a time, until its backward half is
/// asked for: for gradients that come from outside the stack. A tape that has the loss does without. What it was
/// made of must outlive it.
class HeldBatch {
 public:
  virtual ~HeldBatch() = default;

  /// Runs the backward half. What is held serves once and is let go then; for a
  /// second time the batch runs forward again.
  virtual void backward(const BackwardRequest& gradients) = 0;
};

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
