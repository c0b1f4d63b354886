#pragma once

#include <vector>

#include "lagtape/ops/recurrence/sequence.h"
#include "lagtape/tests/ops/recurrence/support/compare.h"

namespace lagtape::test {

/// A stack with numbers for everything that it reads.
struct SequenceCase {
  StackDefinition stack;
  std::vector<Tensor> weights;
  SequenceBatch batch;
  std::vector<Tensor> initial;  ///< one a state, shaped as in Window; empty: zeros

  Dtype dtype() const { return batch.x.dtype(); }
  std::int64_t rows() const { return batch.x.size(0); }
  std::int64_t steps() const { return batch.x.size(1); }
};

/// The same numbers in another precision.
SequenceCase converted(const SequenceCase& c, Dtype dtype);

/// One row, or the steps begin..end-1 (without `initial`), of the same case. Losses that score once keep
/// their targets.
SequenceCase only_row(const SequenceCase& c, std::int64_t row);
SequenceCase only_steps(const SequenceCase& c, std::int64_t begin, std::int64_t end);
/// x[.., begin..end-1, ..] along an axis.
Tensor part(const Tensor& x, std::int64_t axis, std::int64_t begin, std::int64_t end);

/// The value (the loss, or the outputs when the stack has none), the gradients of the weights "d W1", of "d
/// x" and of the initial states "d h[..0]", and the final windows "h[..T]"; names of layer i > 0 begin with
/// its number. Without a loss the gradients are those of the outputs' scalar product with fixed random
/// numbers.
Results run_unrolled(const SequenceCase& c);
Results run_op(const SequenceCase& c, const SequenceSettings& settings = {}, int threads = 1);

/// SequenceOp::evaluate: the outputs and the final windows.
Results run_evaluate(const SequenceCase& c, const SequenceSettings& settings = {}, int threads = 1);

/// The results of `run_evaluate` for `only_row`, taken from its results for the whole batch.
Results row_of(const Results& evaluated, const SequenceCase& c, std::int64_t row);

/// Tensors of the case that have a gradient: weights, x and the initial windows, in this order.
std::vector<Tensor> differentiable(const SequenceCase& c);

/// The scalar that `check_gradients` checks, from Vars in the order of `differentiable`.
Var scalar_unrolled(Tape& tape, const SequenceCase& c, std::span<const Var> inputs);
Var scalar_op(Tape& tape, const SequenceCase& c, std::span<const Var> inputs, SequenceOp& op,
              ThreadPool& pool);

}  // namespace lagtape::test
