#include "lagtape/ops/recurrence/equations/compositions.h"

#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// v, `count` times one after the other: by doubling, so that as few operations as possible copy it.
StepVar repeated(StepVar v, std::int64_t count) {
  if (count == 1) return v;
  const StepVar half = repeated(v, count / 2), twice = v.tape().concatenate(half, half);
  return count % 2 == 0 ? twice : v.tape().concatenate(twice, v);
}

/// v [n] as each of the rows of [groups, n].
StepVar in_every_group(StepVar v, std::int64_t groups) {
  return v.tape().reshape(repeated(v, groups), RowShape::grouped(groups, v.shape().size));
}

}  // namespace

StepVar greater(StepVar a, StepVar b) { return sign(relu(a - b)); }

StepVar where(StepVar c, StepVar a, StepVar b) { return c * a + (1 - c) * b; }

StepVar clamp(StepVar a, StepVar least, StepVar largest) { return minimum(maximum(a, least), largest); }

StepVar mod(StepVar a, StepVar b) { return a - b * floor(a / b); }

StepVar power(StepVar a, StepVar b) {
  const Instruction exponent = b.tape().at(b.id());
  const double n = exponent.value;
  if (exponent.op != StepOp::constant || n != std::floor(n) || std::abs(n) > kLargestWholePower)
    return exp(b * log(a));
  if (n == 0) return b.tape().constant(1);
  const StepVar product = whole_power(a, static_cast<std::int64_t>(std::abs(n)));
  return n > 0 ? product : 1 / product;
}

StepVar outer(StepVar a, StepVar b) {
  if (a.shape().rank != 1 || b.shape().rank != 1)
    throw InputError({.op = "outer"}, Rule::shape, "the product of all pairs is one of two vectors",
                     text_of(to_string(a.shape()), " and ", to_string(b.shape())));
  const std::int64_t groups = a.shape().size;
  return a.tape().broadcast(a, RowShape::grouped(groups, b.shape().size)) * in_every_group(b, groups);
}

StepVar computed_product(StepVar a, StepVar v) {
  if (a.shape().rank != 2 || v.shape().rank != 1 || a.shape().size != v.shape().size)
    throw InputError({.op = "@"}, Rule::shape, "a computed matrix [out, in] multiplies a vector [in]",
                     text_of(to_string(a.shape()), " and ", to_string(v.shape())));
  return sum(a * in_every_group(v, a.shape().groups));
}

namespace {

/// The products of the groups `first` .. `first + count - 1` of v [groups * in], one after the other.
StepVar products_of(std::span<const StepMatrix> matrices, StepVar v, std::int64_t first, std::int64_t count) {
  if (count > 1) {
    const StepVar left = products_of(matrices, v, first, count / 2);
    return v.tape().concatenate(left, products_of(matrices, v, first + count / 2, count - count / 2));
  }
  const StepMatrix& matrix = matrices[static_cast<std::size_t>(first)];
  const std::int64_t in = matrix.shape[1];
  return product(matrix, v.tape().slice(v, first * in, (first + 1) * in));
}

}  // namespace

StepVar product_of_groups(std::span<const StepMatrix> matrices, StepVar v) {
  const auto groups = static_cast<std::int64_t>(matrices.size());
  const std::int64_t out = matrices.front().shape[0], in = matrices.front().shape[1];
  if (v.shape() != RowShape::grouped(groups, in))
    throw InputError({.op = "@"}, Rule::shape,
                     text_of("a matrix for each group, [", groups, ", ", out, ", ", in, "], multiplies [",
                             groups, ", ", in, "]"),
                     to_string(v.shape()));
  StepTape& tape = v.tape();
  const StepVar flat = tape.reshape(v, RowShape::vector(groups * in));
  return tape.reshape(products_of(matrices, flat, 0, groups), RowShape::grouped(groups, out));
}

}  // namespace lagtape
