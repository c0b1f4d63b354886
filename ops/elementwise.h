#pragma once

#include "lagtape/core/tape.h"
#include "lagtape/ops/kernels/element_functions.h"

namespace lagtape {

// Element-wise operations. Inputs are of one tape and one dtype (InputError otherwise). Shapes of two inputs
// agree or broadcast as in NumPy: aligned at the last axis, an extent of 1 or a missing axis is repeated; the
// gradient of a repeated input is the sum over the repetitions, in row-major order. A number stands for a
// constant scalar.
//
// tanh, sigmoid, relu, exp, log, sqrt, abs, sign, floor, erf, sin, cos, + - * /, minimum and maximum use the kernels of
// the sequence op, so they have the same bits. softplus and pow_constant are computed in double.

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

Var minimum(const Var& a, const Var& b);  ///< The gradient goes to the smaller one, to a when they are equal.
Var minimum(const Var& a, double b);
Var maximum(const Var& a, const Var& b);  ///< The gradient goes to the larger one, to a when they are equal.
Var maximum(const Var& a, double b);

Var tanh(const Var& x);
Var sigmoid(const Var& x);  ///< 1 / (1 + exp(-x))
Var relu(const Var& x);     ///< max(x, 0); the gradient at 0 is 0.
Var exp(const Var& x);
Var log(const Var& x);
Var sqrt(const Var& x);
Var abs(const Var& x);    ///< The gradient at 0 is 0.
Var sign(const Var& x);   ///< -1, 0 or 1. It is constant between its jumps, so it has no gradient.
Var floor(const Var& x);  ///< The largest whole number that is not above x, without a gradient, as sign.
Var erf(const Var& x);    ///< The error function.
Var sin(const Var& x);
Var cos(const Var& x);
/// Applies the function to a, or to a and b: equations and step programs name it by its operation. Throws
/// Error for an operation that no equation can write.
Var elementwise(ElementOp function, const Var& a, const Var& b = {});

Var square(const Var& x);
Var softplus(const Var& x);  ///< log(1 + exp(x)), stable at both ends.
Var pow_constant(const Var& x,
                 double exponent);  ///< x^exponent, NaN for x < 0 and an exponent that is no integer.

}  // namespace lagtape
