#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lagtape {

/// A matrix [rows, columns], row-major.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;
};

/// The root of the sum of squares, also where the squares would underflow or overflow.
double two_norm(std::span<const double> values);

/// The largest singular value by power iteration, until it grows by less than 1e-10 of itself (at most 1000
/// times). Apart from rounding it never exceeds the true value.
double spectral_norm(const Matrix& matrix);

/// The largest sum of absolute values in a row.
double row_sum_norm(const Matrix& matrix);

}  // namespace lagtape
