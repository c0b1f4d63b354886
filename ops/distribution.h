#pragma once

#include <span>
#include <string_view>

namespace lagtape {

/// A parameter of a distribution, which a model's read-out outputs for each target.
struct DistributionParameter {
  std::string_view name;
  bool is_positive;  ///< softplus of the read-out's number, plus `least`
  double least;      ///< the bound of a positive one
  /// When the target is a y + b, the parameter is multiplied by a, and b is added.
  bool scales = false, moves = false;
};

/// A distribution whose negative log-likelihood is a loss. The first parameter is the mean.
struct TargetDistribution {
  static constexpr std::size_t kMostParameters = 3;

  std::span<const DistributionParameter> parameters;
  /// -log p(y) of the density, or of the probability of a count, in nats. `slopes`, unless null, gets its derivatives
  /// by the parameters.
  double (*negative_log_likelihood)(const double* parameters, double y, double* slopes);
  /// The smallest number that y does not exceed with that probability, which is above 0 and below 1.
  double (*quantile)(const double* parameters, double level);
  /// The integral of (P(Y <= x) - [y <= x])^2 over x (Gneiting and Raftery 2007, equation 20).
  double (*crps)(const double* parameters, double y);
  bool of_counts = false;  ///< targets are whole numbers >= 0, which are not scaled
};

/// The least scale in units of the scaled targets, so that losses and gradients stay finite.
inline constexpr double kLeastDeviation = 1e-4;

extern const TargetDistribution kGaussian;  ///< mean, scale (the standard deviation)
extern const TargetDistribution kStudentT;  ///< mean, scale, degrees of freedom above 2
extern const TargetDistribution
    kNegativeBinomial;  ///< mean, dispersion: the variance is mean + dispersion mean^2

}  // namespace lagtape
