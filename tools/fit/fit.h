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

/// A number to fit: its first value, and its bounds.
struct FitParam {
  std::string name;
  double start = 0;
  Bounds bounds = {};
  std::string unit = {};
};

/// Readings of one quantity beside the fitted values.
struct FitTrace {
  std::string name = {}, file = {};
  std::vector<double> t = {}, readings = {}, fitted = {};  ///< readings: NaN where there is none
  std::vector<double> curve_t = {},
                      curve = {};  ///< the fitted values, between the readings too; may be empty
};

/// Residuals, prediction less reading in the units of the data, as a function of the params' values, with exact derivatives
/// by the values.
class FitProblem {
 public:
  virtual ~FitProblem() = default;
  virtual const std::vector<FitParam>& params() const = 0;
  virtual std::vector<double> residuals(std::span<const double> values) = 0;
  virtual DenseMatrix jacobian(std::span<const double> values) = 0;
  /// Whether residuals are in units of their readings' own standard deviations.
  virtual bool has_deviations() const { return false; }
  virtual std::vector<FitTrace> traces(std::span<const double> values) = 0;
  /// Fits begin with these values.
  virtual void start_from(std::span<const double> values) = 0;
  /// Sets a number that is not fitted; false: no such name.
  virtual bool fix(const std::string&, double) { return false; }
};

struct FitOptions {
  double level = 0.95;                    ///< probability of the intervals
  RobustLoss robust = RobustLoss::none;   ///< about residuals beyond `robust_scale`
  double robust_scale = 0;                ///< 0: 1.345 times the deviation of most residuals of a plain fit
  std::vector<std::string> profile = {};  ///< params whose intervals come from refits of all others
  std::int64_t adam = 0;                  ///< steps of Adam before, by the whole gradient
  double lr = 0.01;                       ///< learning rate of these, on the params' scales
  LevenbergMarquardtOptions solver = {};
};

/// The cost along one param, all others fitted anew.
struct FitProfile {
  std::string name = {};
  double low = 0,
         high = 0;  ///< the ends of the interval by the likelihood ratio; a bound where it does not end
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
  std::vector<std::pair<std::string, double>> rmse_of = {};  ///< rmse of each target, where there are several
  std::int64_t steps = 0, evaluations = 0;
  StoppedBy stopped_by = StoppedBy::most;
  std::vector<std::string> notes;  ///< notes on what the data leave open, a sentence each
  std::vector<FitProfile> profiles;
  std::vector<FitTrace> traces;  ///< empty until `problem.traces` fills them
};

std::vector<double> estimates_of(const FitResult& result);

/// Fits the params by Levenberg-Marquardt on their scales, from their starts. Throws InputError for an unknown name in
/// `profile`, and as levenberg_marquardt.
FitResult fit_params(FitProblem& problem, const FitOptions& options = {});

/// {"params": {NAME: {"estimate", "standard_error", "low", "high", "unit"}}, "correlations": ..., ...}; null for
/// numbers that are not finite.
Json json_of(const FitResult& result);

}  // namespace lagtape
