#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

// The operations of a step on shapes, which move and repeat elements.

namespace lagtape {
namespace {

/// Whether `from` broadcasts over the innermost axis of `to`: [] over [n], [g] over [g, n].
bool spreads(const RowShape& from, const RowShape& to) {
  if (from.rank == 0) return to.rank > 0;
  Shape without = to.axes();
  without.pop_back();
  return to.rank > 1 && from.axes() == without;
}

}  // namespace

void StepTape::make_one_shape(ElementOp function, StepVar& a, StepVar& b) {
  const RowShape left = a.shape(), right = b.shape();
  if (left.rank == 0 || (spreading_ == Spreading::last_axis && spreads(left, right))) {
    a = broadcast(a, right);
    return;
  }
  if (right.rank == 0 || (spreading_ == Spreading::last_axis && spreads(right, left))) {
    b = broadcast(b, left);
    return;
  }
  const Shape of_a = left.axes(), of_b = right.axes();
  Shape both = of_a.size() < of_b.size() ? of_b : of_a;
  for (std::size_t i = 1; i <= std::min(of_a.size(), of_b.size()); ++i) {
    const std::int64_t in_a = of_a[of_a.size() - i], in_b = of_b[of_b.size() - i];
    if (in_a != in_b && in_a != 1 && in_b != 1) {
      const bool leading = spreads(left, right) || spreads(right, left);
      throw InputError({.op = std::string(function_of(function).name)}, Rule::shape,
                       "shapes must agree or broadcast as in NumPy, aligned at the last axis",
                       text_of(to_string(left), " and ", to_string(right)),
                       leading ? "a[:, None] repeats a vector [g] along the rows of [g, n]." : "");
    }
    both[both.size() - i] = std::max(in_a, in_b);
  }
  a = expand(a, both);
  b = expand(b, both);
}

StepVar StepTape::expand(StepVar a, const Shape& axes) {
  check_mine(a);
  const Shape from = a.shape().axes();
  if (from == axes) return a;
  bool fits = from.size() <= axes.size() && std::ssize(axes) <= RowShape::kLargestRank;
  Shape strides(axes.size(), 0), padded(axes.size(), 1);
  std::int64_t stride = 1;
  for (std::size_t i = 1; fits && i <= from.size(); ++i) {
    const std::int64_t extent = padded[axes.size() - i] = from[from.size() - i];
    fits = extent == 1 || extent == axes[axes.size() - i];
    if (extent != 1) strides[axes.size() - i] = stride;
    stride *= extent;
  }
  if (!fits)
    throw InputError(
        {.op = "expand"}, Rule::shape,
        text_of("an array is repeated along axes of one element and missing ones in front, up to ",
                RowShape::kLargestRank, " axes"),
        text_of(to_string(from), " to ", to_string(axes)));
  if (from.empty()) return broadcast(a, RowShape::of(axes));
  // For the last axis alone, there is an operation that makes no copy.
  const Shape narrow(axes.begin(), axes.end() - 1);
  if (narrow.size() > 0 && padded.back() == 1 && Shape(padded.begin(), padded.end() - 1) == narrow)
    return broadcast(reshape(a, RowShape::of(narrow)), RowShape::of(axes));
  return view(a, axes, 0, strides);
}

StepVar StepTape::broadcast(StepVar a, RowShape to) {
  check_mine(a);
  const RowShape from = a.shape();
  if (from == to) return a;
  if (!spreads(from, to)) {
    throw InputError({.op = "broadcast"}, Rule::shape,
                     "a value spreads over the last axis only: [] to [n], [g] to [g, n]",
                     text_of(to_string(from), " and ", to_string(to)));
  }
  // One axis at a time: each is the reverse of a sum.
  if (from.rank == 0 && to.rank > 1) {
    Shape narrower = to.axes();
    narrower.pop_back();
    a = broadcast(a, RowShape::of(narrower));
  }
  return record({.op = StepOp::broadcast, .shape = to, .a = a.id()});
}

StepVar StepTape::reshape(StepVar a, RowShape to) {
  check_mine(a);
  if (at(a.id()).op == StepOp::reshape) return reshape({this, at(a.id()).a}, to);
  const RowShape from = a.shape();
  if (from == to) return a;
  if (from.rank == 0 || to.rank == 0 || from.width() != to.width()) {
    throw InputError({.op = "reshape"}, Rule::shape, "the number of elements must stay the same",
                     text_of(to_string(from), " and ", to_string(to)));
  }
  return record({.op = StepOp::reshape, .shape = to, .a = a.id()});
}

StepVar StepTape::concatenate(StepVar a, StepVar b) {
  for (StepVar part : {a, b}) {
    check_mine(part);
    if (part.shape().rank > 1 || is_number(part))
      throw InputError({.op = "concat"}, Rule::shape,
                       "the parts must be vectors or scalars, and no numbers, which are written [1]",
                       text_of(to_string(a.shape()), " and ", to_string(b.shape())));
  }
  const RowShape shape = RowShape::vector(a.shape().size + b.shape().size);
  return record({.op = StepOp::concatenate, .shape = shape, .a = a.id(), .b = b.id()});
}

StepVar StepTape::slice(StepVar a, std::int64_t begin, std::int64_t end) {
  check_mine(a);
  const RowShape& from = a.shape();
  if (from.rank != 1 || begin < 0 || begin >= end || end > from.size) {
    throw InputError({.op = "slice"}, Rule::out_of_range,
                     "elements begin .. end - 1 of a vector, 0 <= begin < end <= its size",
                     text_of(begin, " and ", end, " of ", to_string(from)));
  }
  if (end - begin == from.size) return a;
  return record({.op = StepOp::slice,
                 .shape = RowShape::vector(end - begin),
                 .a = a.id(),
                 .index = static_cast<int>(begin)});
}

StepVar StepTape::view(StepVar a, const Shape& shape, std::int64_t first, const Shape& strides) {
  check_mine(a);
  std::int64_t least = first, most = first;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 1)
      throw InputError({.op = "view"}, Rule::out_of_range, "an extent must be at least 1", text_of(shape[i]));
    const std::int64_t reach = (shape[i] - 1) * strides.at(i);
    (reach < 0 ? least : most) += reach;
  }
  if (std::ssize(shape) > RowShape::kLargestRank || strides.size() != shape.size() || least < 0 ||
      most >= a.shape().width()) {
    throw InputError({.op = "view"}, Rule::out_of_range,
                     text_of("an array of at most ", RowShape::kLargestRank, " axes within the operand"),
                     text_of(to_string(shape), " of ", to_string(a.shape())));
  }
  Instruction v{
      .op = StepOp::view, .shape = RowShape::of(shape), .a = a.id(), .index = static_cast<int>(first)};
  std::ranges::copy(strides, v.strides.end() - std::ssize(strides));
  return record(v);
}

}  // namespace lagtape
