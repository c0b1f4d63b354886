#include <cmath>
#include <numbers>

#include "lagtape/ops/distribution.h"
#include "lagtape/ops/special_functions.h"

namespace lagtape {

namespace {

struct Gaussian {
  static constexpr DistributionParameter kParameters[] = {
      {.name = "mean", .is_positive = false, .least = 0, .scales = true, .moves = true},
      {.name = "scale", .is_positive = true, .least = kLeastDeviation, .scales = true},
  };

  static double negative_log_likelihood(const double* p, double y, double* slopes) {
    const double scale = p[1], z = (y - p[0]) / scale;
    if (slopes != nullptr) {
      slopes[0] = -z / scale;
      slopes[1] = (1 - z * z) / scale;
    }
    return std::log(scale) + z * z / 2 + std::log(2 * std::numbers::pi) / 2;
  }

  static double quantile(const double* p, double level) { return p[0] + p[1] * normal_quantile(level); }

  /// Gneiting and Raftery 2007, equation 21.
  static double crps(const double* p, double y) {
    const double z = (y - p[0]) / p[1];
    return p[1] * (z * std::erf(z / std::numbers::sqrt2) +
                   std::numbers::inv_sqrtpi * (std::numbers::sqrt2 * std::exp(-z * z / 2) - 1));
  }
};

}  // namespace

constinit const TargetDistribution kGaussian = {Gaussian::kParameters, Gaussian::negative_log_likelihood,
                                                Gaussian::quantile, Gaussian::crps};

}  // namespace lagtape
