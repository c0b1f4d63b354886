#include "lagtape/tools/analysis/matrix_norm.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace lagtape {

TEST_CASE("the 2-norm is right beyond the range of squares") {
  CHECK(two_norm(std::vector<double>{3, -4}) == 5);
  CHECK(two_norm(std::vector<double>{3e-200, 4e-200}) == doctest::Approx(5e-200));
  CHECK(two_norm(std::vector<double>{3e200, 4e200}) == doctest::Approx(5e200));
  CHECK(two_norm(std::vector<double>{0, 0}) == 0);
  CHECK(std::isnan(two_norm(std::vector<double>{1, std::numeric_limits<double>::infinity()})));
}

TEST_CASE("a matrix with a number that is none has no row sum") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(row_sum_norm({2, 2, {1, -2, 0.5, 0}}) == 3);
  for (const Matrix& m : {Matrix{2, 2, {nan, 1, 1, 1}}, Matrix{2, 2, {1, 1, 1, nan}}})
    CHECK(std::isnan(row_sum_norm(m)));
}

TEST_CASE("the spectral norm is the largest singular value") {
  CHECK(spectral_norm({2, 2, {3, 0, 0, -7}}) == doctest::Approx(7).epsilon(1e-9));
  // [[1, 1], [0, 1]]: the golden ratio.
  CHECK(spectral_norm({2, 2, {1, 1, 0, 1}}) == doctest::Approx((1 + std::sqrt(5)) / 2).epsilon(1e-9));
  // 2 u v^T + w z^T with orthonormal u, w and v, z: 2, in units of 1e-180.
  const double a = 0.6, b = 0.8;
  const Matrix m{
      2, 3, {2e-180 * a * a, 2e-180 * a * b, -1e-180 * b, 2e-180 * b * a, 2e-180 * b * b, 1e-180 * a}};
  CHECK(spectral_norm(m) == doctest::Approx(2e-180).epsilon(1e-9));
  CHECK(spectral_norm({1, 4, {1, 1, 1, 1}}) == doctest::Approx(2));
  CHECK(spectral_norm({2, 2, {0, 0, 0, 0}}) == 0);
}

}  // namespace lagtape
