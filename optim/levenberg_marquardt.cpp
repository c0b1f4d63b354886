#include "lagtape/optim/levenberg_marquardt.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/optim/dense_factors.h"

namespace lagtape {
namespace {

using Options = LevenbergMarquardtOptions;

constexpr double kLeastDamping = 1e-15, kMostDamping = 1e20;
constexpr double kLeastScale = 1e-100;  // of a number that nothing depends on; its square is still above 0

/// rho(z) for z = (r / scale)^2, which replaces z, and its derivative.
std::pair<double, double> robust(RobustLoss loss, double z) {
  if (loss == RobustLoss::huber && z > 1) return {2 * std::sqrt(z) - 1, 1 / std::sqrt(z)};
  if (loss == RobustLoss::soft_l1) return {2 * (std::sqrt(1 + z) - 1), 1 / std::sqrt(1 + z)};
  return {z, 1};
}

double cost_of(std::span<const double> residuals, const Options& options) {
  const double scale = options.robust == RobustLoss::none ? 1 : options.robust_scale;
  double cost = 0;
  for (const double r : residuals) cost += robust(options.robust, r * r / (scale * scale)).first;
  return cost * scale * scale / 2;
}

std::vector<double> weights_of(std::span<const double> residuals, const Options& options) {
  std::vector<double> weights;
  for (const double r : residuals) {
    const double part = r / options.robust_scale;
    weights.push_back(
        options.robust == RobustLoss::none ? 1 : std::sqrt(robust(options.robust, part * part).second));
  }
  return weights;
}

/// The linear model of the residuals at a point: its triangle, with rows weighted by the robust loss, and the norms of
/// its columns.
struct LinearModel {
  Triangle triangle;
  std::vector<double> norms;
  double steepest = 0;  ///< the largest cosine between a column and the residuals

  LinearModel(const DenseMatrix& jacobian, std::span<const double> residuals,
              std::span<const double> weights) {
    DenseMatrix a = jacobian;
    std::vector<double> b(residuals.begin(), residuals.end());
    for (std::int64_t i = 0; i < a.rows; ++i) {
      b[i] *= weights[i];
      for (std::int64_t j = 0; j < a.cols; ++j) a.at(i, j) *= weights[i];
    }
    double length = 0;
    for (const double r : b) length = std::hypot(length, r);
    for (std::int64_t j = 0; j < a.cols; ++j) {
      double norm = 0, along = 0;
      for (std::int64_t i = 0; i < a.rows; ++i) {
        norm = std::hypot(norm, a.at(i, j));
        along += a.at(i, j) * b[i];
      }
      norms.push_back(norm);
      if (norm > 0 && length > 0) steepest = std::max(steepest, std::abs(along) / (norm * length));
    }
    triangle = triangle_of(std::move(a), std::move(b));
  }

  /// Returns the step that minimizes |J s + r|^2 + damping |D s|^2, and the predicted reduction of half the
  /// first term.
  std::pair<std::vector<double>, double> step(std::span<const double> scales, double damping) const {
    const std::int64_t p = triangle.r.cols;
    DenseMatrix a(2 * p, p);
    std::vector<double> b(2 * p);
    for (std::int64_t i = 0; i < p; ++i) {
      for (std::int64_t j = i; j < p; ++j) a.at(i, j) = triangle.r.at(i, j);
      b[i] = -triangle.right[i];
      a.at(p + i, i) = std::sqrt(damping) * scales[i];
    }
    const Triangle damped = triangle_of(std::move(a), std::move(b));
    std::vector<double> s = solve_upper(damped.r, damped.right);
    double lowered = 0;
    for (std::int64_t i = 0; i < p; ++i) {
      double moved = triangle.right[i];
      for (std::int64_t j = i; j < p; ++j) moved += triangle.r.at(i, j) * s[j];
      lowered += (triangle.right[i] * triangle.right[i] - moved * moved) / 2;
    }
    return {std::move(s), lowered};
  }
};

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

/// Shortens a step until no number moves further than allowed.
void shorten(std::vector<double>& step, std::span<const double> longest) {
  double part = 1;
  for (std::size_t i = 0; i < longest.size(); ++i)
    if (std::abs(step[i]) * part > longest[i]) part = longest[i] / std::abs(step[i]);
  for (double& s : step) s *= part;
}

bool is_short(std::span<const double> step, std::span<const double> u, double share) {
  double moved = 0, length = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    moved = std::hypot(moved, step[i]);
    length = std::hypot(length, u[i]);
  }
  return moved <= share * (length + share);
}

}  // namespace

std::string_view name_of(StoppedBy stop) {
  constexpr std::string_view kNames[] = {"gain", "step", "gradient", "exact", "most"};
  return kNames[static_cast<std::size_t>(stop)];
}

LevenbergMarquardtResult levenberg_marquardt(const LeastSquares& problem, std::vector<double> start,
                                             const Options& options) {
  LevenbergMarquardtResult now{.u = std::move(start)};
  now.residuals = problem.residuals(now.u);
  if (!all_finite(now.residuals))
    throw InputError({.op = "fit"}, Rule::not_finite, "residuals at the start are not finite.");
  if (now.residuals.size() < now.u.size())
    throw InputError({.op = "fit"}, Rule::shape, "there must be at least as many residuals as numbers to fit",
                     text_of(now.residuals.size(), " and ", now.u.size()));
  now.cost = cost_of(now.residuals, options);
  now.jacobian = problem.jacobian(now.u);
  std::vector<double> scales(now.u.size());
  double damping = options.first_damping, growth = 2;
  while (true) {
    now.weights = weights_of(now.residuals, options);
    const LinearModel model(now.jacobian, now.residuals, now.weights);
    for (std::size_t i = 0; i < scales.size(); ++i)
      scales[i] = std::max({scales[i], model.norms[i], kLeastScale});
    const auto stop = [&](StoppedBy by) { return now.stopped_by = by, now; };
    if (now.cost == 0) return stop(StoppedBy::exact);
    if (model.steepest <= options.gradient) return stop(StoppedBy::gradient);
    for (bool accepted = false; !accepted;) {
      if (now.steps++ >= options.most) return stop(StoppedBy::most);
      auto [step, lowered] = model.step(scales, damping);
      shorten(step, options.longest);
      if (is_short(step, now.u, options.step) || damping > kMostDamping) return stop(StoppedBy::step);
      std::vector<double> u = now.u;
      for (std::size_t i = 0; i < u.size(); ++i) u[i] += step[i];
      std::vector<double> residuals = all_finite(u) ? problem.residuals(u) : std::vector<double>{NAN};
      const double cost = all_finite(residuals) ? cost_of(residuals, options) : INFINITY;
      const double gain = (now.cost - cost) / lowered;
      if (!(cost < now.cost)) {
        if (std::abs(now.cost - cost) <= options.gain * now.cost && lowered <= options.gain * now.cost)
          return stop(StoppedBy::gain);
        damping = std::max(damping, kLeastDamping) * growth;
        growth *= 2;
        continue;
      }
      accepted = true;
      const double drop = (now.cost - cost) / now.cost;
      // Nielsen 1999: the damping depends on how well the model predicted the gain.
      damping = std::max(kLeastDamping, damping * std::max(1.0 / 3, 1 - std::pow(2 * gain - 1, 3)));
      growth = 2;
      now.u = std::move(u);
      now.residuals = std::move(residuals);
      now.cost = cost;
      now.jacobian = problem.jacobian(now.u);
      if (drop <= options.gain && lowered <= options.gain * now.cost) {
        now.weights = weights_of(now.residuals, options);
        return stop(StoppedBy::gain);
      }
    }
  }
}

}  // namespace lagtape
