#include "lagtape/tools/fit/fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

constexpr double kHuber = 1.345, kDeviationOfMedian = 1.4826;  // 95 % efficient for normal errors
constexpr double kLongest =
    0.5;  // of a step on a logarithmic scale, where a model is linear for less than that
constexpr int kMostProfilePoints = 40;
constexpr double kProfileStep = 0.5;  // in standard errors

std::vector<std::string> names_of(const std::vector<FitParam>& params) {
  std::vector<std::string> names;
  for (const FitParam& param : params) names.push_back(param.name);
  return names;
}

/// The problem on the scales of its params, of which one may be held.
class ScaledProblem {
 public:
  ScaledProblem(FitProblem& problem, std::int64_t& evaluations)
      : problem_(problem), evaluations_(evaluations) {}

  static constexpr std::size_t kNone = SIZE_MAX;
  /// Fits all params, or all but one that is held.
  LevenbergMarquardtResult fit(std::vector<double> u, const LevenbergMarquardtOptions& options,
                               std::size_t held = kNone) {
    const double at = held == kNone ? 0 : u[held];
    const auto whole = [=](std::span<const double> part) {
      std::vector<double> all(part.begin(), part.end());
      if (held != kNone) all.insert(all.begin() + static_cast<std::ptrdiff_t>(held), at);
      return all;
    };
    const LeastSquares squares{
        [&, whole](std::span<const double> part) {
          ++evaluations_;
          return problem_.residuals(values_of(whole(part)));
        },
        [&, whole](std::span<const double> part) { return jacobian(values_of(whole(part)), held); }};
    LevenbergMarquardtOptions own = options;
    for (std::size_t i = 0; i < u.size(); ++i)
      if (i != held)
        own.longest.push_back(problem_.params()[i].bounds.scale == Scale::linear ? INFINITY : kLongest);
    if (held != kNone) u.erase(u.begin() + static_cast<std::ptrdiff_t>(held));
    return levenberg_marquardt(squares, std::move(u), own);
  }

  /// Adam's steps (Kingma and Ba 2015) by the gradient of half the mean square. Returns the best point of the way.
  std::vector<double> descend(std::vector<double> u, std::int64_t steps, double lr) {
    constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-12;
    std::vector<double> best = u, m(u.size()), v(u.size());
    double least = INFINITY;
    for (std::int64_t t = 1; t <= steps; ++t) {
      const std::vector<double> values = values_of(u), residuals = problem_.residuals(values);
      ++evaluations_;
      double cost = 0;
      for (const double r : residuals) cost += r * r;
      if (!std::isfinite(cost)) break;
      if (cost < least) best = u, least = cost;
      const DenseMatrix by_scale = jacobian(values, kNone);
      for (std::size_t j = 0; j < u.size(); ++j) {
        double gradient = 0;
        for (std::int64_t i = 0; i < by_scale.rows; ++i)
          gradient += by_scale.at(i, static_cast<std::int64_t>(j)) * residuals[static_cast<std::size_t>(i)];
        gradient /= static_cast<double>(by_scale.rows);
        m[j] = kBeta1 * m[j] + (1 - kBeta1) * gradient;
        v[j] = kBeta2 * v[j] + (1 - kBeta2) * gradient * gradient;
        const auto at = static_cast<double>(t);
        u[j] -=
            lr * m[j] / (1 - std::pow(kBeta1, at)) / (std::sqrt(v[j] / (1 - std::pow(kBeta2, at))) + kEps);
      }
    }
    return best;
  }

  std::vector<double> start() const {
    std::vector<double> u;
    for (const FitParam& param : problem_.params()) u.push_back(param.bounds.to_scale(param.start));
    return u;
  }

 private:
  std::vector<double> values_of(const std::vector<double>& u) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < u.size(); ++i) values.push_back(problem_.params()[i].bounds.from_scale(u[i]));
    return values;
  }

  DenseMatrix jacobian(const std::vector<double>& values, std::size_t held) const {
    const DenseMatrix by_values = problem_.jacobian(values);
    DenseMatrix by_scale(by_values.rows, by_values.cols - (held == kNone ? 0 : 1));
    for (std::int64_t j = 0, to = 0; j < by_values.cols; ++j) {
      if (static_cast<std::size_t>(j) == held) continue;
      const double slope = problem_.params()[j].bounds.slope(values[j]);
      for (std::int64_t i = 0; i < by_values.rows; ++i) by_scale.at(i, to) = by_values.at(i, j) * slope;
      ++to;
    }
    return by_scale;
  }

  FitProblem& problem_;
  std::int64_t& evaluations_;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The deviation of the bulk of the residuals.
double deviation_of(const std::vector<double>& residuals) {
  std::vector<double> sizes;
  for (const double r : residuals) sizes.push_back(std::abs(r));
  return kDeviationOfMedian * median(std::move(sizes));
}

/// One half of a profile, from the minimum on in steps of its standard errors until the ratio has left the interval.
/// Returns where it does, on the scale.
double walk(ScaledProblem& problem, const LevenbergMarquardtResult& best, std::size_t index, double step,
            double variance, const FitStatistics& statistics, const LevenbergMarquardtOptions& options,
            std::vector<std::pair<double, double>>& points) {
  std::vector<double> u = best.u;
  double before = 0, at = best.u[index];
  for (int k = 0; k < kMostProfilePoints; ++k) {
    u[index] += step;
    const LevenbergMarquardtResult found = problem.fit(u, options, index);
    std::ranges::copy(found.u.begin(), found.u.begin() + static_cast<std::ptrdiff_t>(index), u.begin());
    std::ranges::copy(found.u.begin() + static_cast<std::ptrdiff_t>(index), found.u.end(),
                      u.begin() + static_cast<std::ptrdiff_t>(index) + 1);
    const double root = std::sqrt(std::max(0.0, 2 * (found.cost - best.cost) / variance));
    points.emplace_back(u[index], 2 * found.cost);
    if (root >= statistics.quantile)  // the root of the ratio is nearly linear
      return at + (u[index] - at) * (statistics.quantile - before) / (root - before);
    before = root;
    at = u[index];
  }
  return std::copysign(INFINITY, step);
}

FitProfile profile_of(ScaledProblem& problem, const FitParam& param, std::size_t index,
                      const LevenbergMarquardtResult& best, const FitStatistics& statistics,
                      const LevenbergMarquardtOptions& options) {
  double step = kProfileStep * statistics.deviation(static_cast<std::int64_t>(index));
  if (!std::isfinite(step)) step = 0.1 * std::max(1.0, std::abs(best.u[index]));
  std::vector<std::pair<double, double>> points = {{best.u[index], 2 * best.cost}};
  const auto end = [&](double by) {
    return walk(problem, best, index, by, statistics.variance, statistics, options, points);
  };
  const double low = end(-step), high = end(step);
  std::ranges::sort(points);
  FitProfile profile{.name = param.name};
  profile.low = std::isfinite(low) ? param.bounds.from_scale(low) : param.bounds.low;
  profile.high = std::isfinite(high) ? param.bounds.from_scale(high) : param.bounds.high;
  for (const auto& [u, cost] : points) {
    profile.values.push_back(param.bounds.from_scale(u));
    profile.costs.push_back(cost);
  }
  return profile;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

/// The elements of a matrix by their two params.
Json by_params(const FitResult& result, const DenseMatrix& of) {
  Json all = Json::object();
  const auto count = static_cast<std::int64_t>(result.rows.size());
  for (std::int64_t i = 0; i < count; ++i) {
    Json row = Json::object();
    for (std::int64_t j = 0; j < count; ++j) row[result.rows[j].param.name] = number(of.at(i, j));
    all[result.rows[i].param.name] = std::move(row);
  }
  return all;
}

/// The covariance of the numbers themselves, from that on their scales.
DenseMatrix covariance_of(const FitResult& result) {
  const auto count = static_cast<std::int64_t>(result.rows.size());
  DenseMatrix all = result.statistics.covariance;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < count; ++j) {
      const FitResult::Row &a = result.rows[i], &b = result.rows[j];
      all.at(i, j) *= a.param.bounds.slope(a.estimate.value) * b.param.bounds.slope(b.estimate.value);
    }
  return all;
}

Json json_of(const FitTrace& trace) {
  const auto numbers = [](const std::vector<double>& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(number(value));
    return list;
  };
  Json json = {{"name", trace.name}};
  if (!trace.file.empty()) json["file"] = trace.file;
  json["t"] = numbers(trace.t);
  json["reading"] = numbers(trace.readings);
  json["fitted"] = numbers(trace.fitted);
  return json;
}

}  // namespace

std::vector<double> estimates_of(const FitResult& result) {
  std::vector<double> values;
  for (const FitResult::Row& row : result.rows) values.push_back(row.estimate.value);
  return values;
}

FitResult fit_params(FitProblem& problem, const FitOptions& options) {
  const std::vector<FitParam>& params = problem.params();
  const std::vector<std::string> names = names_of(params);
  for (const std::string& name : options.profile)
    if (std::ranges::find(names, name) == names.end())
      throw InputError(unknown_name("param", name, names).within({.item = "profile"}));
  if (params.empty()) throw InputError({.op = "fit"}, Rule::missing, "there is no number that is trained.");

  FitResult result;
  ScaledProblem scaled(problem, result.evaluations);
  LevenbergMarquardtOptions solver = options.solver;
  LevenbergMarquardtResult best =
      scaled.fit(scaled.descend(scaled.start(), options.adam, options.lr), solver);
  if (options.robust != RobustLoss::none) {
    solver.robust = options.robust;
    solver.robust_scale =
        options.robust_scale > 0 ? options.robust_scale : kHuber * deviation_of(best.residuals);
    if (solver.robust_scale > 0) best = scaled.fit(best.u, solver);
  }
  result.statistics = fit_statistics(best, problem.has_deviations(), options.level);
  for (std::size_t i = 0; i < params.size(); ++i)
    result.rows.push_back({params[i], estimate_of(params[i].bounds, best.u[i],
                                                  result.statistics.deviation(static_cast<std::int64_t>(i)),
                                                  result.statistics.quantile)});
  for (const std::string& name : options.profile) {
    const auto index = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    result.profiles.push_back(profile_of(scaled, params[index], index, best, result.statistics, solver));
  }
  for (const double r : best.residuals) result.rmse += r * r;
  result.rmse = std::sqrt(result.rmse / static_cast<double>(best.residuals.size()));
  result.residuals = best.residuals;
  result.steps = best.steps;
  result.stopped_by = best.stopped_by;
  result.notes = unfixed_combinations(result.statistics, names);
  return result;
}

Json json_of(const FitResult& result) {
  Json params = Json::object();
  for (const FitResult::Row& row : result.rows)
    params[row.param.name] = {{"estimate", number(row.estimate.value)},
                              {"standard_error", number(row.estimate.standard_error)},
                              {"low", number(row.estimate.low)},
                              {"high", number(row.estimate.high)},
                              {"unit", row.param.unit}};
  Json json = {{"params", params},
               {"correlations", by_params(result, result.statistics.correlation)},
               {"covariance", by_params(result, covariance_of(result))},
               {"condition", number(result.statistics.condition)},
               {"notes", result.notes},
               {"readings", result.residuals.size()},
               {"rmse", number(result.rmse)},
               {"steps", result.steps},
               {"evaluations", result.evaluations},
               {"stopped_by", name_of(result.stopped_by)}};
  for (const auto& [name, rmse] : result.rmse_of) json["rmse_of"][name] = number(rmse);
  for (const FitTrace& trace : result.traces) json["data"].push_back(json_of(trace));
  for (const FitProfile& profile : result.profiles)
    json["profiles"][profile.name] = {{"low", number(profile.low)},
                                      {"high", number(profile.high)},
                                      {"values", profile.values},
                                      {"costs", profile.costs}};
  return json;
}

}  // namespace lagtape
