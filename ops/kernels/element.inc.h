#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/arc_tangent.inc.h"
#include "lagtape/ops/kernels/kernel_table.h"
#include "lagtape/ops/kernels/vector_math.inc.h"

namespace lagtape {

/// The same number, hidden from the compiler. Clang compiles `a < b ? a : b` to one instruction, which returns
/// zero for a subnormal number where these are flushed; a comparison and a selection, as in compiled stages,
/// return the number.
template <class V>
[[gnu::always_inline]] inline V another(V v) {
#if defined(__clang__) && defined(__SSE__)
  if constexpr (requires { v.data; }) {
    asm("" : "+v"(v.data));
  } else if constexpr (requires { v.x; }) {
    asm("" : "+v"(v.x));
  }
#endif
  return v;
}

/// The smaller (or larger) of a and b; NaN if either is NaN. (In xsimd 8.1, != is false for NaN.)
template <class S, bool larger>
[[gnu::always_inline]] inline typename S::Vector extreme(typename S::Vector a, typename S::Vector b) {
  const typename S::Vector first = another(a);
  const typename S::Vector chosen = larger ? select(a > b, first, b) : select(a < b, first, b);
  return select(a == a, chosen, a);
}

/// log(1 + e^a) = max(a, 0) + log(1 + e) with e = e^-|a|. The part of a small e that is lost in 1 + e is added
/// to first order.
template <class S>
[[gnu::always_inline]] inline typename S::Vector softplus_of(typename S::Vector a) {
  using V = typename S::Vector;
  const V zero(typename S::Scalar(0)), one(typename S::Scalar(1));
  const V e = vector_math::exp<S>(vector_math::negative_magnitude<S>(a));
  const V sum = one + e;
  const V logarithm = vector_math::log<S>(sum) + vector_math::divide<S>(e - (sum - one), sum);
  return select(a < zero, zero, another(a)) + logarithm;
}

/// One vector of an operation's result. The formulas for all ElementOps are here.
template <class S, ElementOp op>
[[gnu::always_inline]] inline typename S::Vector evaluate(typename S::Vector a, typename S::Vector b,
                                                          typename S::Vector c, typename S::Vector k) {
  using enum ElementOp;
  using V = typename S::Vector;
  using T = typename S::Scalar;
  const V zero(T(0));
  const V one(T(1));
  if constexpr (op == fill) return k;
  if constexpr (op == copy) return a;
  if constexpr (op == negate) return vector_math::negate<S>(a);
  if constexpr (op == tanh) return vector_math::tanh<S>(a);
  if constexpr (op == sigmoid) return vector_math::sigmoid<S>(a);
  if constexpr (op == softplus) return softplus_of<S>(a);
  if constexpr (op == relu) return select(a < zero, zero, another(a));
  if constexpr (op == exp) return vector_math::exp<S>(a);
  if constexpr (op == log) return vector_math::log<S>(a);
  if constexpr (op == sqrt) return vector_math::sqrt<S>(a);
  if constexpr (op == abs) return vector_math::abs<S>(a);
  if constexpr (op == sin) return vector_math::sin<S>(a);
  if constexpr (op == cos) return vector_math::cos<S>(a);
  if constexpr (op == sign) return select(a > zero, one, select(a < zero, vector_math::negate<S>(one), a));
  if constexpr (op == floor) return vector_math::floor<S>(a);
  if constexpr (op == erf) return vector_math::erf<S>(a);
  if constexpr (op == add) return a + b;
  if constexpr (op == subtract) return a - b;
  if constexpr (op == multiply) return a * b;
  if constexpr (op == divide) return vector_math::divide<S>(a, b);
  if constexpr (op == minimum) return extreme<S, false>(a, b);
  if constexpr (op == maximum) return extreme<S, true>(a, b);
  if constexpr (op == add_constant) return a + k;
  if constexpr (op == multiply_constant) return a * k;
  if constexpr (op == minimum_constant) return extreme<S, false>(a, k);
  if constexpr (op == maximum_constant) return extreme<S, true>(a, k);
  if constexpr (op == constant_minus) return k - a;
  if constexpr (op == constant_over) return vector_math::divide<S>(k, a);
  if constexpr (op == greater) return select(k == one, select(a >= b, one, zero), select(a > b, one, zero));
  if constexpr (op == tanh_adjoint) return a * S::fma(vector_math::negate<S>(b), b, one);
  if constexpr (op == sigmoid_adjoint) return a * (b * (one - b));
  if constexpr (op == where_positive) return select(b > zero, a, zero);
  if constexpr (op == multiply_add) return a * b + c;
  if constexpr (op == atan) return vector_math::atan<S>(a);
  if constexpr (op == stop || op == surrogate) return a;
  if constexpr (op == where_nonzero) return select(b == zero, zero, a);
}

template <class S, ElementOp op>
void apply(typename S::Scalar* out, const typename S::Scalar* a, const typename S::Scalar* b,
           const typename S::Scalar* c, typename S::Scalar k, std::int64_t n) {
  using V = typename S::Vector;
  constexpr int arrays = function_of(op).arrays;
  const V constant(k);
  for (std::int64_t i = 0; i < n; i += S::kSize) {
    const V x = arrays > 0 ? V::load_aligned(a + i) : constant;
    const V y = arrays > 1 ? V::load_aligned(b + i) : constant;
    const V z = arrays > 2 ? V::load_aligned(c + i) : constant;
    evaluate<S, op>(x, y, z, constant).store_aligned(out + i);
  }
}

/// Fills a table with the kernels of all operations.
template <class S, int op = 0>
constexpr void fill_element_kernels(Kernels<typename S::Scalar>& table) {
  if constexpr (op < static_cast<int>(ElementOp::count)) {
    table.element[op] = &apply<S, static_cast<ElementOp>(op)>;
    fill_element_kernels<S, op + 1>(table);
  }
}

}  // namespace lagtape
