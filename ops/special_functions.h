#pragma once

namespace lagtape {

// Functions of the likelihoods of distributions, in double, with relative errors of about 1e-14. They keep no state,
// unlike lgamma of the C library.

/// log(Gamma(x + k) / Gamma(x)) for x > 0 and x + k > 0, and its derivative with respect to x, digamma(x + k) -
/// digamma(x).
double log_gamma_ratio(double x, double k);
double digamma_difference(double x, double k);

/// The regularized incomplete beta function I_x(a, b) = B(x; a, b) / B(a, b), x in 0..1, for a, b > 0.
double beta_share(double a, double b, double x);

/// The quantile of the standard normal distribution at that probability, which is above 0 and below 1.
double normal_quantile(double probability);

}  // namespace lagtape
