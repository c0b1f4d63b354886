#include "lagtape/ops/special_functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lagtape {

namespace {

/// From here on, five terms of Stirling's series (Abramowitz and Stegun 1964, 6.1.41 and 6.3.18) are exact in
/// double.
constexpr double kLarge = 16;

/// log(Gamma(x)) - ((x - 1/2) log(x) - x + log(2 pi) / 2)
double rest_of_log_gamma(double x) {
  const double s = 1 / (x * x);
  return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / x;
}

/// digamma(x) - (log(x) - 1 / (2 x))
double rest_of_digamma(double x) {
  const double s = 1 / (x * x);
  return -s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s / 132))));
}

/// The continued fraction of the beta function (Abramowitz and Stegun 1964, 26.5.8), by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kExact = 1e-15;
  constexpr int kMost = 100'000;  // about the square root of the larger parameter is needed
  const auto inverse = [](double value) { return 1 / (std::abs(value) < kTiny ? kTiny : value); };
  double c = 1, d = inverse(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < kMost; ++m) {
    double change = 1;
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = inverse(1 + term * d);
      c = 1 + term * inverse(c);
      change = c * d;
      fraction *= change;
    }
    if (std::abs(change - 1) < kExact) break;
  }
  return fraction;
}

}  // namespace

double log_gamma_ratio(double x, double k) {
  double below = 0;
  for (; x < kLarge; ++x) below += std::log1p(k / x);
  return (x - 0.5) * std::log1p(k / x) + k * (std::log(x + k) - 1) + rest_of_log_gamma(x + k) -
         rest_of_log_gamma(x) - below;
}

double digamma_difference(double x, double k) {
  double below = 0;
  for (; x < kLarge; ++x) below += k / (x * (x + k));
  return std::log1p(k / x) + k / (2 * x * (x + k)) + rest_of_digamma(x + k) - rest_of_digamma(x) + below;
}

double beta_share(double a, double b, double x) {
  if (!(x > 0)) return 0;
  if (!(x < 1)) return 1;
  // 1 / (a B(a, b)), with log(Gamma(b + 1)) = log(Gamma(1 + b) / Gamma(1)).
  const double log_share =
      a * std::log(x) + b * std::log1p(-x) + log_gamma_ratio(a, b) - (log_gamma_ratio(1, b) - std::log(b));
  if (x > (a + 1) / (a + b + 2)) return 1 - std::exp(log_share) / b * beta_fraction(b, a, 1 - x);
  return std::exp(log_share) / a * beta_fraction(a, b, x);
}

double normal_quantile(double probability) {
  const double tail = std::min(probability, 1 - probability), t = std::sqrt(-2 * std::log(tail));
  // Abramowitz and Stegun 1964, 26.2.23, within 5e-4, and Newton's method for the logarithm of the tail.
  double x =
      t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 3; ++i) {
    const double above = std::erfc(x / std::numbers::sqrt2) / 2;
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    x += std::log(above / tail) * above / density;
  }
  return probability < 0.5 ? -x : x;
}

}  // namespace lagtape
