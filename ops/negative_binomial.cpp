#include <algorithm>
#include <cmath>

#include "lagtape/ops/distribution.h"
#include "lagtape/ops/special_functions.h"

namespace lagtape {

namespace {

/// Given by its mean and dispersion (Salinas et al. 2020, section 3.1). r = 1 / dispersion is the number of failures.
struct NegativeBinomial {
  static constexpr DistributionParameter kParameters[] = {
      {.name = "mean", .is_positive = true, .least = 1e-6, .scales = true},
      {.name = "dispersion", .is_positive = true, .least = 1e-6},
  };

  static double negative_log_likelihood(const double* p, double y, double* slopes) {
    const double mean = p[0], r = 1 / p[1], none = std::log1p(mean / r);
    if (slopes != nullptr) {
      const double rest = (mean - y) / (r + mean);
      slopes[0] = rest * r / mean;
      slopes[1] = (digamma_difference(r, y) - none + rest) * r * r;
    }
    return r * none + y * std::log1p(r / mean) + log_gamma_ratio(1, y) - log_gamma_ratio(r, y);
  }

  /// P(Y <= y), continuously extended between whole numbers.
  static double share_up_to(const double* p, double y) {
    const double r = 1 / p[1];
    return beta_share(r, y + 1, r / (r + p[0]));
  }

  static double quantile(const double* p, double level) {
    const double deviation = std::sqrt(p[0] + p[1] * p[0] * p[0]);
    double low = 0, high = std::max(0.0, std::floor(p[0] + deviation * normal_quantile(level)));
    for (double width = 1; share_up_to(p, high) < level; width *= 2) {
      low = high + 1;
      high += width;
    }
    while (low < high) {
      const double middle = std::floor((low + high) / 2);
      if (share_up_to(p, middle) < level) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return high;
  }

  /// The sum of f over the whole numbers from `first` up to but not including `end`; if there are many, over
  /// the midpoints of equal parts.
  template <class F>
  static double sum_over(double first, double end, F f) {
    constexpr double kMost = 256;
    const double parts = std::min(end - first, kMost), width = (end - first) / parts;
    double sum = 0;
    for (double i = 0; i < parts; ++i) sum += width * f(first + (i + 0.5) * width - 0.5);
    return sum;
  }

  /// Outside all but 2e-9 of the probability, the CDF is taken as 0 or 1.
  static double crps(const double* p, double y) {
    constexpr double kNothing = 1e-9;
    const double first = quantile(p, kNothing), last = quantile(p, 1 - kNothing);
    const double middle = std::clamp(y, first, last);
    return sum_over(first, middle, [&](double k) { return std::pow(share_up_to(p, k), 2); }) +
           sum_over(middle, last, [&](double k) { return std::pow(1 - share_up_to(p, k), 2); }) +
           std::abs(y - middle);
  }
};

}  // namespace

constinit const TargetDistribution kNegativeBinomial = {
    NegativeBinomial::kParameters, NegativeBinomial::negative_log_likelihood, NegativeBinomial::quantile,
    NegativeBinomial::crps, true};

}  // namespace lagtape
