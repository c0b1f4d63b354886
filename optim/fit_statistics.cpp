#include "lagtape/optim/fit_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lagtape/core/quote.h"
#include "lagtape/core/text.h"
#include "lagtape/ops/special_functions.h"
#include "lagtape/optim/dense_factors.h"

namespace lagtape {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHighCorrelation = 0.95;
constexpr double kSingular =
    1e-12;  ///< of singular values: J is from differences of doubles, or about as accurate

/// The probability that a t-distributed number lies beyond t > 0.
double upper_tail(double t, double freedom) {
  return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

}  // namespace

double student_t_quantile(double probability, double freedom) {
  if (probability < 0.5) return -student_t_quantile(1 - probability, freedom);
  double low = 0, high = 1;
  while (upper_tail(high, freedom) > 1 - probability && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (upper_tail(middle, freedom) > 1 - probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

double FitStatistics::deviation(std::int64_t i) const { return std::sqrt(covariance.at(i, i)); }

FitStatistics fit_statistics(const LevenbergMarquardtResult& result, bool known_variance, double level) {
  DenseMatrix a = result.jacobian;
  const std::int64_t n = a.rows, p = a.cols;
  double squares = 0;
  std::vector<double> norms(p);
  for (std::int64_t i = 0; i < n; ++i) {
    squares += std::pow(result.weights[i] * result.residuals[i], 2);
    for (std::int64_t j = 0; j < p; ++j) {
      a.at(i, j) *= result.weights[i];
      norms[j] = std::hypot(norms[j], a.at(i, j));
    }
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < p; ++j) a.at(i, j) /= norms[j] > 0 ? norms[j] : 1;

  FitStatistics found;
  found.freedom = n - p;
  found.variance = known_variance      ? 1
                   : found.freedom > 0 ? squares / static_cast<double>(found.freedom)
                                       : kInfinity;
  found.quantile = found.freedom > 0 && !known_variance
                       ? student_t_quantile(0.5 + level / 2, static_cast<double>(found.freedom))
                       : normal_quantile(0.5 + level / 2);
  const SingularValues svd = singular_values_of(triangle_of(std::move(a), std::vector<double>(n)).r);
  const double largest = svd.values.front(), smallest = svd.values.back();
  found.condition = smallest > kSingular * largest ? std::pow(largest / smallest, 2) : kInfinity;
  for (std::int64_t j = 0; j < p; ++j) found.weakest.push_back(svd.vectors.at(j, p - 1));

  found.covariance = found.correlation = DenseMatrix(p, p);
  for (std::int64_t i = 0; i < p; ++i)
    for (std::int64_t j = 0; j < p; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < p; ++k) {
        const double product = svd.vectors.at(i, k) * svd.vectors.at(j, k);
        const bool is_fixed = svd.values[k] > kSingular * largest;
        if (is_fixed) sum += product / (svd.values[k] * svd.values[k]);
        if (!is_fixed && std::abs(product) > 1e-8) sum = std::copysign(kInfinity, i == j ? 1 : product);
        if (std::isinf(sum)) break;
      }
      found.covariance.at(i, j) =
          found.variance * sum / (norms[i] > 0 && norms[j] > 0 ? norms[i] * norms[j] : 1);
      found.correlation.at(i, j) = sum;
    }
  const DenseMatrix unscaled = found.correlation;
  for (std::int64_t i = 0; i < p; ++i)
    for (std::int64_t j = 0; j < p; ++j) {
      const double value = unscaled.at(i, j) / std::sqrt(unscaled.at(i, i) * unscaled.at(j, j));
      found.correlation.at(i, j) = i == j ? 1 : std::isfinite(value) ? value : 0;
    }
  return found;
}

Estimate estimate_of(const Bounds& bounds, double u, double deviation, double quantile) {
  const double value = bounds.from_scale(u);
  if (!std::isfinite(deviation)) return {value, kInfinity, bounds.low, bounds.high};
  return {value, deviation * std::abs(bounds.slope(value)), bounds.from_scale(u - quantile * deviation),
          bounds.from_scale(u + quantile * deviation)};
}

std::vector<std::string> unfixed_combinations(const FitStatistics& statistics,
                                              std::span<const std::string> names) {
  std::vector<std::string> sentences;
  if (std::isinf(statistics.condition)) {
    std::vector<std::string> part;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (std::abs(statistics.weakest[i]) > 0.05) part.push_back(names[i]);
    sentences.push_back(
        part.size() == 1 ? text_of("the data do not depend on ", part[0], ", or hardly")
                         : text_of("the data fix no more than a combination of ", listed(part, part.size())));
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = i + 1; j < names.size(); ++j) {
      const double r = statistics.correlation.at(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
      if (std::abs(r) > kHighCorrelation)
        sentences.push_back(text_of(names[i], " and ", names[j], " cannot be told apart: correlation ",
                                    std::round(1000 * r) / 1000));
    }
  return sentences;
}

}  // namespace lagtape
