#pragma once

#include <cstdint>
#include <vector>

namespace lagtape {

/// The predictors of a row for the next steps.
struct RegressionSizes {
  std::int64_t shared = 0;   ///< S, numbers that all steps read, such as the last values
  std::int64_t own = 0;      ///< F, numbers specific to each step, such as inputs that are known ahead
  std::int64_t targets = 1;  ///< K
  std::int64_t steps = 1;    ///< H

  std::int64_t features() const { return shared + own; }
};

/// Sums of the products of all numbers in a row, which determine the linear regressions of all steps. The
/// products of the shared numbers are added once for all steps.
class StepProducts {
 public:
  explicit StepProducts(const RegressionSizes& sizes);

  /// Adds a row: shared [S], own [H, F], targets [H, K]. A step with a NaN among its own numbers is left out.
  void add(const double* shared, const double* own, const double* targets);

  const RegressionSizes& sizes() const { return sizes_; }
  /// The sums of products at a step, of 1, S shared numbers, F own ones and K targets: symmetric, [1 + S + F + K] squared.
  std::vector<double> at(std::int64_t step) const;
  /// The number of rows at a step.
  double rows(std::int64_t step) const;

 private:
  RegressionSizes sizes_;
  std::int64_t all_, rest_;                ///< 1 + S, F + K
  std::vector<double> shared_;             ///< [1 + S, 1 + S], its lower triangle
  std::vector<std::vector<double>> less_;  ///< by step: the same for the rows that it leaves out; empty: none
  std::vector<double> rest_products_;      ///< [H, F + K, 1 + S + F + K]
  std::vector<double> one_, own_;          ///< a row while it is added
};

/// A linear regression for each step and target.
class StepRegressions {
 public:
  /// The ridge regressions of standardized numbers, solved exactly. The penalty of a step is the one of
  /// kPenalties with the least squared error on the rows of `valid`, or kPenalties[kUsualPenalty] if `valid`
  /// has no rows.
  StepRegressions(const StepProducts& train, const StepProducts& valid);

  /// The prediction of a step and target from shared [S] and own [F].
  double predict(const double* shared, const double* own, std::int64_t step, std::int64_t target) const;
  /// The constant, then a weight for each of the S + F numbers.
  const double* weights(std::int64_t step, std::int64_t target) const;

 private:
  RegressionSizes sizes_;
  std::vector<double> weights_;  ///< [H, K, 1 + S + F]
};

/// Relative to the number of rows.
inline constexpr double kPenalties[] = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1};
inline constexpr std::int64_t kUsualPenalty = 4;

}  // namespace lagtape
