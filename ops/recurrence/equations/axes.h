#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lagtape/core/tape.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

// Operations on the axes of arrays, as in NumPy, for values of a step (StepVar) and for derived weights (Var).
// They move elements, compose sums and products from the tape's operations, and throw InputError with the rule
// and the shapes. An axis can count from the end: -1 is the last.

/// a's axes in another order: axis i of the result is axis order[i] of a.
template <class T>
T transposed(T a, std::span<const std::int64_t> order);
/// The last two axes exchanged; a vector is unchanged.
template <class T>
T transposed(T a);

/// The same with axes that may count from the end. Throws InputError unless each axis occurs once.
template <class T>
T reordered(T a, std::vector<std::int64_t> order);

/// Part of an axis: elements begin, begin + step, ... before `end`, as a[begin:end:step].
struct AxisPart {
  std::int64_t axis, begin, count, step;
};
template <class T>
T part_of(T a, const AxisPart& part);

StepVar sum(StepVar a, std::int64_t axis);
StepVar mean(StepVar a, std::int64_t axis);
/// The largest (ElementOp::maximum) or smallest (ElementOp::minimum) element along an axis.
template <class T>
T extreme(ElementOp op, T a, std::int64_t axis);
/// exp(a) / sum(exp(a), axis), and log(sum(exp(a), axis)), after subtracting the maximum.
template <class T>
T softmax(T a, std::int64_t axis);
template <class T>
T logsumexp(T a, std::int64_t axis);
template <class T>
T cumsum(T a, std::int64_t axis);
/// Elements moved forward by `shift` along an axis, the last ones to the start.
template <class T>
T roll(T a, std::int64_t shift, std::int64_t axis);
/// a, then b, along an axis; the other axes must match.
StepVar joined(StepVar a, StepVar b, std::int64_t axis);
Var joined(const Var& a, const Var& b, std::int64_t axis);

/// a @ b of computed arrays: multiplies matrices in the last two axes and aligns the other axes as in NumPy; a
/// vector on the left is a row, one on the right a column.
StepVar matmul(StepVar a, StepVar b);
/// W @ b for a weight [out, in] and an array [in] or [..., in, n].
StepVar matmul(const StepMatrix& w, StepVar b);

/// For a [g] and b [n], the products of all pairs, [g, n].
template <class T>
T outer(T a, T b);

/// A matrix [out, in] for each group, times v [g, in]: [g, out].
StepVar product_of_groups(std::span<const StepMatrix> matrices, StepVar v);

/// einsum("hij,hj->hi", A, v): each letter is an axis; letters missing from the result are summed over.
template <class T>
T einsum(std::string_view letters, std::span<const T> operands);

}  // namespace lagtape
