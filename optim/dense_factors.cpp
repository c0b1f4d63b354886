#include "lagtape/optim/dense_factors.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace lagtape {

Triangle triangle_of(DenseMatrix a, std::vector<double> b) {
  const std::int64_t n = a.rows, p = a.cols;
  for (std::int64_t k = 0; k < p; ++k) {
    double norm = 0;
    for (std::int64_t i = k; i < n; ++i) norm = std::hypot(norm, a.at(i, k));
    if (norm == 0) continue;
    const double alpha = a.at(k, k) > 0 ? -norm : norm;
    // v = x - alpha e_k, of which v_k is largest
    a.at(k, k) -= alpha;
    const double scale = -alpha * a.at(k, k);  // v^T v / 2
    const auto reflect = [&](auto value, auto change) {
      double sum = 0;
      for (std::int64_t i = k; i < n; ++i) sum += a.at(i, k) * value(i);
      for (std::int64_t i = k; i < n; ++i) change(i) -= sum / scale * a.at(i, k);
    };
    for (std::int64_t j = k + 1; j < p; ++j)
      reflect([&](std::int64_t i) { return a.at(i, j); },
              [&](std::int64_t i) -> double& { return a.at(i, j); });
    reflect([&](std::int64_t i) { return b[i]; }, [&](std::int64_t i) -> double& { return b[i]; });
    a.at(k, k) = alpha;
  }
  Triangle result{DenseMatrix(p, p), {b.begin(), b.begin() + p}};
  for (std::int64_t i = 0; i < p; ++i)
    for (std::int64_t j = i; j < p; ++j) result.r.at(i, j) = a.at(i, j);
  return result;
}

std::vector<double> solve_upper(const DenseMatrix& r, std::vector<double> b) {
  for (std::int64_t i = r.cols - 1; i >= 0; --i) {
    for (std::int64_t j = i + 1; j < r.cols; ++j) b[i] -= r.at(i, j) * b[j];
    b[i] /= r.at(i, i);
  }
  return b;
}

SingularValues singular_values_of(DenseMatrix a) {
  constexpr int kSweeps = 60;
  const std::int64_t n = a.rows, p = a.cols;
  DenseMatrix v(p, p);
  for (std::int64_t i = 0; i < p; ++i) v.at(i, i) = 1;
  bool moved = true;
  for (int sweep = 0; moved && sweep < kSweeps; ++sweep) {
    moved = false;
    for (std::int64_t j = 0; j < p; ++j)
      for (std::int64_t k = j + 1; k < p; ++k) {
        double jj = 0, kk = 0, jk = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          jj += a.at(i, j) * a.at(i, j);
          kk += a.at(i, k) * a.at(i, k);
          jk += a.at(i, j) * a.at(i, k);
        }
        if (std::abs(jk) <= 1e-15 * std::sqrt(jj * kk)) continue;
        moved = true;
        const double zeta = (kk - jj) / (2 * jk);
        const double t = std::copysign(1 / (std::abs(zeta) + std::hypot(1, zeta)), zeta);
        const double c = 1 / std::hypot(1, t), s = c * t;
        const auto rotate = [&](DenseMatrix& m, std::int64_t rows) {
          for (std::int64_t i = 0; i < rows; ++i) {
            const double x = m.at(i, j), y = m.at(i, k);
            m.at(i, j) = c * x - s * y;
            m.at(i, k) = s * x + c * y;
          }
        };
        rotate(a, n);
        rotate(v, p);
      }
  }
  std::vector<double> norms(p);
  for (std::int64_t j = 0; j < p; ++j)
    for (std::int64_t i = 0; i < n; ++i) norms[j] = std::hypot(norms[j], a.at(i, j));
  std::vector<std::int64_t> order(p);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::int64_t j) { return norms[j]; });
  SingularValues result{{}, DenseMatrix(p, p)};
  for (std::int64_t k = 0; k < p; ++k) {
    result.values.push_back(norms[order[k]]);
    for (std::int64_t i = 0; i < p; ++i) result.vectors.at(i, k) = v.at(i, order[k]);
  }
  return result;
}

}  // namespace lagtape
