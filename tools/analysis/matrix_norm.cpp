#include "lagtape/tools/analysis/matrix_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lagtape {

namespace {

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
    largest = std::max(largest, std::abs(value));
  }
  return largest;
}

}  // namespace

double two_norm(std::span<const double> values) {
  const double scale = largest_of(values);
  if (scale == 0 || std::isnan(scale)) return scale;
  double sum = 0;
  for (const double value : values) sum += (value / scale) * (value / scale);
  return scale * std::sqrt(sum);
}

double spectral_norm(const Matrix& matrix) {
  const double scale = largest_of(matrix.values);
  if (scale == 0 || std::isnan(scale)) return scale;
  const std::size_t rows = static_cast<std::size_t>(matrix.rows);
  const std::size_t columns = static_cast<std::size_t>(matrix.columns);
  const auto row = [&](std::size_t i) { return std::span(matrix.values).subspan(i * columns, columns); };

  // The start is the longest row, which is not orthogonal to the matrix's row space.
  std::size_t longest = 0;
  for (std::size_t i = 1; i < rows; ++i)
    if (two_norm(row(i)) > two_norm(row(longest))) longest = i;
  std::vector<double> v(row(longest).begin(), row(longest).end()), next(columns);
  double sigma = 0;
  for (int iteration = 0; iteration < 1000; ++iteration) {
    const double length = two_norm(v);
    for (double& x : v) x /= length;
    std::fill(next.begin(), next.end(), 0);
    double squares = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      double product = 0;
      for (std::size_t j = 0; j < columns; ++j) product += row(i)[j] / scale * v[j];
      for (std::size_t j = 0; j < columns; ++j) next[j] += row(i)[j] / scale * product;
      squares += product * product;
    }
    const double before = sigma;
    sigma = std::sqrt(squares);
    v.swap(next);
    if (sigma - before <= 1e-10 * sigma) break;
  }
  return scale * sigma;
}

double row_sum_norm(const Matrix& matrix) {
  double norm = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    double sum = 0;
    for (std::int64_t column = 0; column < matrix.columns; ++column)
      sum += std::abs(matrix.values[static_cast<std::size_t>(row * matrix.columns + column)]);
    if (std::isnan(sum)) return sum;
    norm = std::max(norm, sum);
  }
  return norm;
}

}  // namespace lagtape
