#pragma once

#include <span>
#include <vector>

#include "lagtape/optim/levenberg_marquardt.h"

namespace lagtape {

/// R [p, p] of the QR decomposition of a matrix by Householder reflections, and Q^T b [p]. The matrix has at
/// least as many rows as columns.
struct Triangle {
  DenseMatrix r;
  std::vector<double> right;
};
Triangle triangle_of(DenseMatrix a, std::vector<double> b);

/// x in R x = b. A zero pivot makes x non-finite.
std::vector<double> solve_upper(const DenseMatrix& r, std::vector<double> b);

/// Singular values, the largest first, and the right singular vectors as columns of [p, p], by one-sided Jacobi
/// rotations (Hestenes 1958).
struct SingularValues {
  std::vector<double> values;
  DenseMatrix vectors;
};
SingularValues singular_values_of(DenseMatrix a);

}  // namespace lagtape
