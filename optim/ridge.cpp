#include "lagtape/optim/ridge.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// Replaces a symmetric matrix, of which the lower triangle is given, by its Cholesky factor L. False where it is not
/// positive definite in f64.
bool factorize(DenseMatrix& a, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    const double before = a.at(j, j);
    for (std::int64_t k = 0; k < j; ++k) a.at(j, j) -= a.at(j, k) * a.at(j, k);
    if (!(a.at(j, j) > 1e-15 * before)) return false;
    a.at(j, j) = std::sqrt(a.at(j, j));
    for (std::int64_t i = j + 1; i < n; ++i) {
      for (std::int64_t k = 0; k < j; ++k) a.at(i, j) -= a.at(i, k) * a.at(j, k);
      a.at(i, j) /= a.at(j, j);
    }
  }
  return true;
}

/// x of L L^T x = b.
std::vector<double> solved(const DenseMatrix& l, std::vector<double> b) {
  const auto n = static_cast<std::int64_t>(b.size());
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < i; ++k) b[i] -= l.at(i, k) * b[k];
    b[i] /= l.at(i, i);
  }
  for (std::int64_t i = n - 1; i >= 0; --i) {
    for (std::int64_t k = i + 1; k < n; ++k) b[i] -= l.at(k, i) * b[k];
    b[i] /= l.at(i, i);
  }
  return b;
}

}  // namespace

void Ridge::update(Parameter&, std::span<Tensor>, double) {
  throw Error("[ridge] there are no updates: the read-out is solved at once.");
}

RidgeSums::RidgeSums(std::int64_t in, std::int64_t out)
    : in_(in), out_(out), sums_(1 + in + out, 1 + in + out) {}

void RidgeSums::add(std::span<const double> x, std::span<const double> y) {
  std::vector<double> row = {1};
  row.insert(row.end(), x.begin(), x.end());
  row.insert(row.end(), y.begin(), y.end());
  for (std::int64_t i = 0; i < sums_.rows; ++i) {
    double* sums = &sums_.at(i, 0);
    for (std::int64_t j = 0; j <= i; ++j) sums[j] += row[i] * row[j];
  }
  ++count_;
}

RidgeSums::Solution RidgeSums::solve(double alpha) const {
  const double n = static_cast<double>(count_);
  // Without the means, which leaves the bias out of the penalty.
  const auto centered = [&](std::int64_t i, std::int64_t j) {
    return sums_.at(std::max(i, j) + 1, std::min(i, j) + 1) - sums_.at(i + 1, 0) * sums_.at(j + 1, 0) / n;
  };
  DenseMatrix factor(in_, in_);
  for (std::int64_t i = 0; i < in_; ++i)
    for (std::int64_t j = 0; j <= i; ++j) factor.at(i, j) = centered(i, j) + (i == j ? alpha : 0);
  if (count_ == 0 || !factorize(factor, in_))
    throw InputError({.op = "ridge"}, Rule::out_of_range,
                     "the states depend on each other, so that no weights are the best", text_of(alpha),
                     "Give a larger one.");
  Solution solution{DenseMatrix(out_, in_), std::vector<double>(out_), 0};
  for (std::int64_t o = 0; o < out_; ++o) {
    std::vector<double> right(in_);
    for (std::int64_t i = 0; i < in_; ++i) right[i] = centered(in_ + o, i);
    const std::vector<double> w = solved(factor, right);
    double bias = sums_.at(in_ + o + 1, 0) / n, square = centered(in_ + o, in_ + o);
    for (std::int64_t i = 0; i < in_; ++i) {
      solution.weights.at(o, i) = w[i];
      bias -= w[i] * sums_.at(i + 1, 0) / n;
      // w^T (G + alpha) w = w^T right, so that y^2 - 2 w^T right + w^T G w is this:
      square -= w[i] * (right[i] + alpha * w[i]);
    }
    solution.bias[o] = bias;
    solution.mean_square += std::max(square, 0.0) / (n * static_cast<double>(out_));
  }
  return solution;
}

}  // namespace lagtape
