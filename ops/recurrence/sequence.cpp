#include "lagtape/ops/recurrence/sequence.h"

#include "lagtape/ops/recurrence/memory/planner.h"
#include "lagtape/ops/recurrence/sequence_checks.h"
#include "lagtape/ops/recurrence/sequence_implementation.h"

namespace lagtape {

SequenceOp::SequenceOp(StackDefinition stack, Dtype dtype, SequenceSettings settings) {
  check_stack(stack, settings);
  implementation_ = std::make_shared<Implementation>();
  implementation_->stack = std::move(stack);
  implementation_->dtype = dtype;
  implementation_->settings = settings;
  implementation_->runner = recurrence::make_batch_runner(implementation_->stack, dtype, settings);
}

const StackDefinition& SequenceOp::stack() const { return implementation_->stack; }
Dtype SequenceOp::dtype() const { return implementation_->dtype; }
std::int64_t SequenceOp::peak_bytes() const { return implementation_->runner->peak_bytes(); }

std::vector<PlanCost> SequenceOp::plans(std::int64_t batch, std::int64_t steps, int threads) const {
  return implementation_->runner->plans(batch, steps, threads);
}

PlanCost SequenceOp::choose(std::int64_t batch, std::int64_t steps, int threads) const {
  return recurrence::choose_plan(plans(batch, steps, threads), implementation_->settings);
}

Tensor SequenceOp::evaluate(std::span<const Tensor> weights, const SequenceBatch& batch, ThreadPool& pool,
                            const Window* initial, Window* final_window) {
  Implementation& op = *implementation_;
  check_batch(op.stack, op.dtype, batch,
              initial != nullptr ? std::span<const Tensor>(initial->states) : std::span<const Tensor>());
  Tensor outputs(output_shape(op.stack, batch), op.dtype);
  if (final_window != nullptr) *final_window = zero_window(op.stack.layers, batch.x.size(0), op.dtype);
  recurrence::BatchRequest request{batch, weights, pool};
  request.initial = initial != nullptr ? &initial->states : nullptr;
  request.final_window = final_window;
  request.outputs = &outputs;
  op.runner->run(request);
  return outputs;
}

}  // namespace lagtape
