#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/parameter.h"
#include "lagtape/optim/levenberg_marquardt.h"

namespace lagtape {

/// The quantile p of Student's t with the given degrees of freedom, 0 < p < 1.
double student_t_quantile(double probability, double freedom);

/// Statistics of fitted numbers, from the residuals and their Jacobian at a least-squares minimum.
struct FitStatistics {
  std::int64_t freedom = 0;  ///< number of residuals minus number of fitted numbers
  double variance = 0;       ///< sigma^2: given, or estimated from the residuals
  DenseMatrix covariance;    ///< sigma^2 (J^T J)^-1, [p, p]; infinite where the data do not determine the
                             ///< numbers
  DenseMatrix correlation;   ///< [p, p]
  /// The condition number of J^T J with columns scaled to length 1; infinite if they are linearly dependent.
  double condition = 0;
  std::vector<double>
      weakest;  ///< [p], of length 1: the direction that the data determine least, with columns scaled
                ///< to length 1
  double quantile = 0;  ///< the deviations within which `level` of a t-distributed error lies

  double deviation(std::int64_t i) const;
};

/// Rows are weighted by the result's weights. With `known_variance`, residuals are in units of their standard
/// deviations and sigma^2 is 1.
FitStatistics fit_statistics(const LevenbergMarquardtResult& result, bool known_variance = false,
                             double level = 0.95);

/// An estimate of one number with its standard error, and its confidence interval, which lies within its
/// bounds.
struct Estimate {
  double value = 0, standard_error = 0, low = 0, high = 0;
};

/// The estimate of a number with the value u on the scale of its bounds, where `deviation` is its standard
/// error.
Estimate estimate_of(const Bounds& bounds, double u, double deviation, double quantile);

/// Sentences such as "a and p cannot be told apart: correlation -0.954" for correlations above 0.95 and for
/// combinations that the data do not determine.
std::vector<std::string> unfixed_combinations(const FitStatistics& statistics,
                                              std::span<const std::string> names);

}  // namespace lagtape
