#pragma once

#include "lagtape/core/tape.h"
#include "lagtape/ops/kernels/element_functions.h"

namespace lagtape {

// Element-wise operations. Inputs are of one tape and one dtype (InputError otherwise). Shapes of two inputs
// agree or broadcast as in NumPy: aligned at the last axis, an extent of 1 or a missing axis is repeated; the
// gradient of a repeated input is the sum over the repetitions, in row-major order. A number is for a
// constant scalar.
//
// The functions of one and two operands (tanh(x), minimum(a, b), ...) are those of kernels/element_names.h. All use the
// kernels of the sequence op, so they have the same bits; softplus and pow_constant alone are computed in double.

Var operator+(const Var& a, const Var& b);
Var operator+(const Var& a, double b);
Var operator+(double a, const Var& b);
Var operator-(const Var& a, const Var& b);
Var operator-(const Var& a, double b);
Var operator-(double a, const Var& b);
Var operator*(const Var& a, const Var& b);
Var operator*(const Var& a, double b);
Var operator*(double a, const Var& b);
Var operator/(const Var& a, const Var& b);
Var operator/(const Var& a, double b);
Var operator/(double a, const Var& b);
Var operator-(const Var& x);

Var minimum(const Var& a, double b);
Var maximum(const Var& a, double b);

/// Applies the function to a, or to a and b. Throws Error for an operation that no equation can write.
Var elementwise(ElementOp function, const Var& a, const Var& b = {});

/// The values from which the gradient of y = f(a, b) is computed.
struct ElementValues {
  Tensor a, b, y;
};
/// y = f(a, b) for a known y, with its gradient from `at`.
Var elementwise_at(const ElementValues& at, ElementOp function, const Tensor& y, const Var& a,
                   const Var& b = {});

Var square(const Var& x);
Var pow_constant(const Var& x,
                 double exponent);  ///< x^exponent, NaN for x < 0 and an exponent that is not an integer.

}  // namespace lagtape
