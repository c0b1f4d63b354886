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

/// The root of the sum of squares, even where the squares would underflow or overflow.
double two_norm(std::span<const double> values);

/// The largest singular value by power iteration, until its relative increase falls below 1e-10 (at most 1000
/// iterations). Apart from rounding it never exceeds the true value.
double spectral_norm(const Matrix& matrix);

/// The largest row sum of absolute values.
double row_sum_norm(const Matrix& matrix);

}  // namespace lagtape
