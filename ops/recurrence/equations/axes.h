#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

// Operations of a step on the axes of its arrays, as NumPy has them. They move elements, compose sums and products of
// what the tape has, and throw InputError with the rule and the shapes. An axis may count from the end: -1 is the last.

/// a's axes in another order: axis i of the result is axis order[i] of a.
StepVar transposed(StepVar a, std::span<const std::int64_t> order);
/// The last two axes exchanged; a vector stays as it is.
StepVar transposed(StepVar a);

/// Part of an axis: elements begin, begin + step, ... before `end`, as a[begin:end:step].
struct AxisPart {
  std::int64_t axis, begin, count, step;
};
StepVar part_of(StepVar a, const AxisPart& part);

StepVar sum(StepVar a, std::int64_t axis);
StepVar mean(StepVar a, std::int64_t axis);
/// The largest (ElementOp::maximum) or the smallest (ElementOp::minimum) along an axis.
StepVar extreme(ElementOp op, StepVar a, std::int64_t axis);
/// exp(a) / sum(exp(a), axis), and log(sum(exp(a), axis)), of numbers from which the largest is taken first.
StepVar softmax(StepVar a, std::int64_t axis);
StepVar logsumexp(StepVar a, std::int64_t axis);
StepVar cumsum(StepVar a, std::int64_t axis);
/// Elements moved forward by `shift` along an axis, those at its end to its begin.
StepVar roll(StepVar a, std::int64_t shift, std::int64_t axis);
/// a, then b, along an axis; the other axes agree.
StepVar joined(StepVar a, StepVar b, std::int64_t axis);

/// a @ b of computed arrays: matrices in their last two axes, whose other axes are aligned as in NumPy; a vector on
/// the left is a row, one on the right a column.
StepVar matmul(StepVar a, StepVar b);
/// W @ b of a weight [out, in] and an array [in] or [..., in, n].
StepVar matmul(const StepMatrix& w, StepVar b);

/// a [g] and b [n] give [g, n] with the products of all pairs.
StepVar outer(StepVar a, StepVar b);

/// A matrix [out, in] for each group, times v [g, in]: [g, out].
StepVar product_of_groups(std::span<const StepMatrix> matrices, StepVar v);

/// einsum("hij,hj->hi", A, v): each letter is an axis; those that the result has not are summed over.
StepVar einsum(std::string_view letters, std::span<const StepVar> operands);

}  // namespace lagtape
