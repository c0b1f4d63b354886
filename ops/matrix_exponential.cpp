#include "lagtape/ops/matrix_exponential.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lagtape/ops/checks.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/matmul.h"
#include "lagtape/ops/matrices.h"

namespace lagtape {
namespace {

constexpr int kBlock = 4;  // degree 16 in four blocks of four powers

/// 1 / k! for k up to 16.
std::array<double, kBlock * kBlock + 1> coefficients() {
  std::array<double, kBlock * kBlock + 1> c{1};
  for (std::size_t k = 1; k < c.size(); ++k) c[k] = c[k - 1] / static_cast<double>(k);
  return c;
}

double largest_column_sum(const Tensor& a) {
  double largest = 0;
  for (std::int64_t j = 0; j < a.size(1); ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(0); ++i) sum += std::abs(a.at(i * a.size(1) + j));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// The number of times that A is halved. For a non-finite matrix the result is non-finite in any case.
int halvings(const Tensor& a) {
  constexpr double kLargest = 0.8;
  const double norm = largest_column_sum(a);
  if (!std::isfinite(norm) || norm <= kLargest) return 0;
  return static_cast<int>(std::ceil(std::log2(norm / kLargest)));
}

/// The series of a small matrix to degree 16, with six products.
Var series(const Var& a) {
  const auto c = coefficients();
  std::array<Var, kBlock + 1> power;
  power[0] = identity(a, a.value().size(0));
  power[1] = a;
  for (int k = 2; k <= kBlock; ++k) power[k] = matmul(power[k - 1], a);

  Var sum = c[kBlock * kBlock] * power[0];
  for (int block = kBlock - 1; block >= 0; --block) {
    sum = matmul(sum, power[kBlock]);
    for (int k = kBlock - 1; k >= 0; --k) sum = sum + c[block * kBlock + k] * power[k];
  }
  return sum;
}

}  // namespace

Var matrix_exponential(const Var& a) {
  if (a.value().rank() != 2 || a.value().size(0) != a.value().size(1))
    refuse("matrix_exponential", "a must be a square matrix", {{"a", a}});
  const int times = halvings(a.value());
  Var result = series(std::ldexp(1.0, -times) * a);
  for (int i = 0; i < times; ++i) result = matmul(result, result);
  return result;
}

}  // namespace lagtape
