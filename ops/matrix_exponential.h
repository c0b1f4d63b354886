#pragma once

#include "lagtape/core/tape.h"

namespace lagtape {

/// exp(A) = I + A + A^2 / 2 + ... of a square matrix A [n, n]. Scaling and squaring: A is halved until its
/// largest column sum is at most 0.8, the series is computed to degree 16 (its remainder is then below 2^-53),
/// and the result is squared the same number of times. The gradient is exact for these operations. Throws
/// InputError unless A is square.  Source: "Nineteen Dubious Ways to Compute the Exponential of a Matrix,
/// Twenty-Five Years Later" (Moler and Van Loan 2003), method 3; products as in Paterson and Stockmeyer 1973.
///
/// exp(A) = I + A + A^2 / 2 + ... of a square matrix A [n, n]. Scaling and squaring: A is halved until its
/// largest column sum is at most 0.8, the series is computed to degree 16 (its remainder is then below 2^-53),
/// and the result is squared the same number of times. The gradient is exact for these operations. Throws
/// InputError unless A is square.  Source: "Nineteen Dubious Ways to Compute the Exponential of a Matrix,
/// Twenty-Five Years Later" (Moler and Van Loan 2003), method 3; products as in Paterson and Stockmeyer 1973.
Var matrix_exponential(const Var& a);

}  // namespace lagtape
