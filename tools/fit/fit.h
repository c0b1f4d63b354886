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

/// A number to be fitted: its first value, and what it may be.
struct FitParam {
  std::string name;
  double start = 0;
  Bounds bounds = {};
  std::string unit = {};
};

/// Readings of one quantity beside what was fitted to them.
struct FitTrace {
  std::string name = {}, file = {};
  std::vector<double> t = {}, readings = {}, fitted = {};  ///< readings: NaN where there is none
  std::vector<double> curve_t = {}, curve = {};  ///< what was fitted, between the readings too; may be empty
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
  /// Gives a number that is not fitted a value; false: there is none of that name.
  virtual bool fix(const std::string&, double) { return false; }
};

struct FitOptions {
  double level = 0.95;                    ///< of the intervals
  RobustLoss robust = RobustLoss::none;   ///< about residuals beyond `robust_scale`
  double robust_scale = 0;                ///< 0: 1.345 times the deviation of most residuals of a plain fit
  std::vector<std::string> profile = {};  ///< params whose intervals come from refits of all others
  std::int64_t adam = 0;                  ///< steps of Adam before, by the whole gradient
  double lr = 0.01;                       ///< of these, on the params' scales
  LevenbergMarquardtOptions solver = {};
};

/// The cost along one param, all others fitted anew.
struct FitProfile {
  std::string name = {};
  double low = 0, high = 0;  ///< where the likelihood ratio leaves the interval; a bound where it does not
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
  std::vector<std::pair<std::string, double>> rmse_of = {};  ///< of each target, where there are several
  std::int64_t steps = 0, evaluations = 0;
  StoppedBy stopped_by = StoppedBy::most;
  std::vector<std::string> notes;  ///< what the data do not fix, a sentence each
  std::vector<FitProfile> profiles;
  std::vector<FitTrace> traces;  ///< empty until `problem.traces` fills them
};

std::vector<double> estimates_of(const FitResult& result);

/// Fits the params by Levenberg-Marquardt on their scales, from their starts. Throws InputError for an unknown name in
/// `profile`, and as levenberg_marquardt.
FitResult fit_params(FitProblem& problem, const FitOptions& options = {});

/// {"params": {NAME: {"estimate", "standard_error", "low", "high", "unit"}}, "correlations": ..., ...}; null for what is not
/// finite.
Json json_of(const FitResult& result);

}  // namespace lagtape
