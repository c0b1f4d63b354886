#include "lagtape/ops/recurrence/oracle/unroll_product.h"

#include <cmath>

#include "lagtape/ops/matmul.h"

namespace lagtape::recurrence {
namespace {

/// Rounds to eight significant bits, ties to even; numbers below f32's normal range become zero.
double rounded(double x, Dtype dtype) {
  if (!std::isfinite(x)) return x;
  if (dtype == Dtype::f32 && std::abs(x) < std::ldexp(1, -126)) return std::copysign(0.0, x);
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

}  // namespace

Tensor rounded_to_bf16(const Tensor& x) {
  Tensor result(x.shape(), x.dtype());
  for (std::int64_t i = 0; i < x.numel(); ++i) result.set(i, rounded(x.at(i), x.dtype()));
  return result;
}

namespace {

Var rounded(const Var& x) {
  return x.tape().record(rounded_to_bf16(x.value()), {x},
                         [](const Tensor& d, InputGradients& inputs) { inputs.add(0, d); });
}

}  // namespace

Var with_rounded_adjoint(const Var& y) {
  return y.tape().record(y.value(), {y},
                         [](const Tensor& d, InputGradients& inputs) { inputs.add(0, rounded_to_bf16(d)); });
}

Var product_in_bf16(const Var& a, const Var& w, const Tensor& seen, ScalarParts scalar) {
  Tape& tape = a.tape();
  const auto fixed = [&](const Tensor& value) { return tape.constant(value); };
  const Var along_a = with_rounded_adjoint(linear(rounded(a), fixed(rounded_to_bf16(w.value()))));
  Var along_w =
      scalar.weight_gradient ? linear(fixed(seen), w) : linear(fixed(rounded_to_bf16(seen)), rounded(w));
  if (!scalar.weight_gradient || scalar.rounded_sum) along_w = with_rounded_adjoint(along_w);
  const Tensor value = scalar.value ? linear(fixed(a.value()), fixed(w.value())).value() : along_a.value();
  return tape.record(value, {along_a, along_w}, [](const Tensor& d, InputGradients& inputs) {
    if (inputs.wanted(0)) inputs.add(0, d);
    if (inputs.wanted(1)) inputs.add(1, d);
  });
}

}  // namespace lagtape::recurrence
