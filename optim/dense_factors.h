#pragma once

#include <span>
#include <vector>

#include "lagtape/optim/levenberg_marquardt.h"

namespace lagtape {

/// R [p, p] of the matrix's Q R by Householder's reflections, and Q^T b [p]. The matrix has at least as many rows as columns.
struct Triangle {
  DenseMatrix r;
  std::vector<double> right;
};
Triangle triangle_of(DenseMatrix a, std::vector<double> b);

/// x of R x = b. A pivot of 0 gives a number that is not finite.
std::vector<double> solve_upper(const DenseMatrix& r, std::vector<double> b);

/// Singular values, the largest first, and their right vectors as columns of [p, p], by Jacobi's rotations from one side
/// (Hestenes 1958).
struct SingularValues {
  std::vector<double> values;
  DenseMatrix vectors;
};
SingularValues singular_values_of(DenseMatrix a);

}  // namespace lagtape
