#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "lagtape/ops/distribution.h"
#include "lagtape/ops/special_functions.h"

namespace lagtape {

namespace {

struct StudentT {
  static constexpr DistributionParameter kParameters[] = {
      {.name = "mean", .is_positive = false, .least = 0, .scales = true, .moves = true},
      {.name = "scale", .is_positive = true, .least = kLeastDeviation, .scales = true},
      {.name = "dof", .is_positive = true, .least = 2},
  };

  static double negative_log_likelihood(const double* p, double y, double* slopes) {
    const double scale = p[1], dof = p[2], z = (y - p[0]) / scale, far = z * z / dof;
    if (slopes != nullptr) {
      const double pull = (dof + 1) / dof * z / (1 + far);
      slopes[0] = -pull / scale;
      slopes[1] = (1 - pull * z) / scale;
      slopes[2] = (std::log1p(far) + (1 - pull * z) / dof - digamma_difference(dof / 2, 0.5)) / 2;
    }
    return std::log(scale) + (dof + 1) / 2 * std::log1p(far) + std::log(dof * std::numbers::pi) / 2 -
           log_gamma_ratio(dof / 2, 0.5);
  }

  /// P(T > t) of the standard distribution for t >= 0, and its density.
  static double tail(double dof, double t) { return beta_share(dof / 2, 0.5, dof / (dof + t * t)) / 2; }
  static double density(double dof, double t) {
    const double standard[] = {0, 1, dof};
    return std::exp(-negative_log_likelihood(standard, t, nullptr));
  }

  /// Newton's method for the logarithm of the tail, within bounds.
  static double quantile(const double* p, double level) {
    const double dof = p[2], wanted = std::min(level, 1 - level);
    double low = 0, high = std::numeric_limits<double>::infinity(), t = std::abs(normal_quantile(wanted));
    for (int i = 0; i < 100 && wanted < 0.5; ++i) {
      const double above = tail(dof, t), before = t;
      (above > wanted ? low : high) = t;
      t += std::log(above / wanted) * above / density(dof, t);
      if (!(t > low && t < high)) t = std::isinf(high) ? 2 * before + 1 : (low + high) / 2;
      if (std::abs(t - before) <= 1e-14 * t) break;
    }
    return p[0] + (level < 0.5 ? -t : t) * p[1];
  }

  /// Jordan, Krueger and Lerch 2019, appendix A. B(1/2, x) = sqrt(pi) Gamma(x) / Gamma(x + 1/2).
  static double crps(const double* p, double y) {
    const double dof = p[2], z = std::abs(y - p[0]) / p[1];
    const double betas = std::numbers::inv_sqrtpi *
                         std::exp(2 * log_gamma_ratio(dof / 2, 0.5) - log_gamma_ratio(dof - 0.5, 0.5));
    return p[1] * (z * (1 - 2 * tail(dof, z)) +
                   2 / (dof - 1) * (density(dof, z) * (dof + z * z) - std::sqrt(dof) * betas));
  }
};

}  // namespace

constinit const TargetDistribution kStudentT = {StudentT::kParameters, StudentT::negative_log_likelihood,
                                                StudentT::quantile, StudentT::crps};

}  // namespace lagtape
