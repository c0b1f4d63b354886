#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/core/json/json.h"
#include "lagtape/core/parameter.h"
#include "lagtape/optim/fit_statistics.h"

namespace lagtape {

/// A number to fit: its initial value, and its bounds.
struct FitParam {
  std::string name;
  double start = 0;
  Bounds bounds = {};
  std::string unit = {};
};

/// Readings of one quantity, with the fitted values.
struct FitTrace {
  std::string name = {}, file = {};
  std::vector<double> t = {}, readings = {}, fitted = {};  ///< readings: NaN if missing
  std::vector<double> curve_t = {},
                      curve = {};  ///< the fitted values, including between readings; may be empty
};

/// Residuals (prediction minus reading, in the units of the data) as a function of the params' values, with
/// exact derivatives with respect to the values.
class FitProblem {
 public:
  virtual ~FitProblem() = default;
  virtual const std::vector<FitParam>& params() const = 0;
  virtual std::vector<double> residuals(std::span<const double> values) = 0;
  virtual DenseMatrix jacobian(std::span<const double> values) = 0;
  /// Whether residuals are in units of the readings' own standard deviations.
  virtual bool has_deviations() const { return false; }
  virtual std::vector<FitTrace> traces(std::span<const double> values) = 0;
  /// Fits start from these values.
  virtual void start_from(std::span<const double> values) = 0;
  /// Sets a number that is not fitted; false: unknown name.
  virtual bool fix(const std::string&, double) { return false; }
};

struct FitOptions {
  double level = 0.95;                    ///< confidence level of the intervals
  RobustLoss robust = RobustLoss::none;   ///< robust loss, for residuals beyond `robust_scale`
  double robust_scale = 0;                ///< 0: 1.345 times the deviation of most residuals in a plain fit
  std::vector<std::string> profile = {};  ///< params whose intervals come from refitting all others
  std::int64_t adam = 0;                  ///< steps of Adam before that, with the full gradient
  double lr = 0.01;                       ///< learning rate for these, on the params' scales
  LevenbergMarquardtOptions solver = {};
};

/// The cost along one param, with all others refitted.
struct FitProfile {
  std::string name = {};
  double low = 0,
         high = 0;  ///< the ends of the likelihood-ratio interval; a bound where it does not end
  std::vector<double> values = {},
                      costs = {};  ///< ascending values of the param, and the sums of squares there
};

struct FitResult {
  struct Row {
    FitParam param;
    Estimate estimate;
  };
  std::vector<Row> rows;
  FitStatistics statistics;
  std::vector<double> residuals;
  double rmse = 0;
  std::vector<std::pair<std::string, double>> rmse_of = {};  ///< rmse of each target, if there are several
  std::int64_t steps = 0, evaluations = 0;
  StoppedBy stopped_by = StoppedBy::most;
  std::vector<std::string> notes;  ///< notes about what the data leave open, one sentence each
  std::vector<FitProfile> profiles;
  std::vector<FitTrace> traces;  ///< empty until `problem.traces` fills them
};

std::vector<double> estimates_of(const FitResult& result);

/// Fits the params by Levenberg-Marquardt on their scales, from their starts. Throws InputError for an unknown
/// name in `profile`, and as levenberg_marquardt does.
FitResult fit_params(FitProblem& problem, const FitOptions& options = {});

/// {"params": {NAME: {"estimate", "standard_error", "low", "high", "unit"}}, "correlations": ..., ...}; null
/// for non-finite numbers.
Json json_of(const FitResult& result);

}  // namespace lagtape
