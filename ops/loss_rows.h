#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lagtape/ops/distribution.h"

namespace lagtape {

// The arithmetic of the losses, one row at a time, in double and in order. All code that computes a loss uses
// it. Each function returns the row's loss; if grad is not null, it writes grad[j] = scale * dloss/d(input j),
// which may overwrite the input.

/// log(sum_j exp(logits[j])) - logits[target]; 0 <= target < classes.
template <class T>
double cross_entropy_row(const T* logits, std::int64_t classes, std::int32_t target, double scale, T* grad) {
  const double largest = *std::max_element(logits, logits + classes);
  double sum = 0;
  for (std::int64_t j = 0; j < classes; ++j) sum += std::exp(logits[j] - largest);
  const double loss = std::log(sum) + (largest - logits[target]);
  if (grad == nullptr) return loss;
  for (std::int64_t j = 0; j < classes; ++j) {
    const double probability = std::exp(logits[j] - largest) / sum;
    grad[j] = static_cast<T>(scale * (j == target ? probability - 1 : probability));
  }
  return loss;
}

/// sum_j (y[j] - target[j])^2 over the targets that are not NaN
template <class T>
double mse_row(const T* y, const T* target, std::int64_t n, double scale, T* grad) {
  double loss = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double error = std::isnan(target[j]) ? 0 : static_cast<double>(y[j]) - target[j];
    loss += error * error;
    if (grad != nullptr) grad[j] = static_cast<T>(scale * (2 * error));
  }
  return loss;
}

/// weight * (log(sum_j exp(logits[j])) - sum_j p[j] logits[j]) with p[j] = smoothing / classes, and 1 - smoothing
/// more for the target.
template <class T>
double smoothed_cross_entropy_row(const T* logits, std::int64_t classes, std::int32_t target, double weight,
                                  double smoothing, double scale, T* grad) {
  const double largest = *std::max_element(logits, logits + classes);
  const double share = smoothing / static_cast<double>(classes);
  double sum = 0, below = 0;  // below: the mean distance of the logits from the largest under p
  for (std::int64_t j = 0; j < classes; ++j) {
    const double distance = largest - logits[j];
    sum += std::exp(-distance);
    below += (j == target ? share + 1 - smoothing : share) * distance;
  }
  if (grad == nullptr) return weight * (std::log(sum) + below);
  for (std::int64_t j = 0; j < classes; ++j) {
    const double wanted = j == target ? share + 1 - smoothing : share;
    grad[j] = static_cast<T>(scale * weight * (std::exp(logits[j] - largest) / sum - wanted));
  }
  return weight * (std::log(sum) + below);
}

/// sum_j of error^2 / 2 where |error| <= delta, else delta (|error| - delta / 2), for error = y[j] - target[j] and
/// the targets that are not NaN (Huber 1964).
template <class T>
double huber_row(const T* y, const T* target, std::int64_t n, double delta, double scale, T* grad) {
  double loss = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double error = std::isnan(target[j]) ? 0 : static_cast<double>(y[j]) - target[j];
    const double slope = std::clamp(error, -delta, delta);
    loss += slope * (error - slope / 2);
    if (grad != nullptr) grad[j] = static_cast<T>(scale * slope);
  }
  return loss;
}

/// sum_j |y[j] - target[j]| over the targets that are not NaN. At 0 the gradient is 0.
template <class T>
double mae_row(const T* y, const T* target, std::int64_t n, double scale, T* grad) {
  double loss = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double error = std::isnan(target[j]) ? 0 : static_cast<double>(y[j]) - target[j];
    loss += std::abs(error);
    if (grad != nullptr) grad[j] = static_cast<T>(scale * ((error > 0) - (error < 0)));
  }
  return loss;
}

/// -log p(count), where the parameters that scale with the count are in these units, and are converted to
/// counts.
inline double count_likelihood(const TargetDistribution& distribution, double* parameters, double count,
                               double unit, double* slopes) {
  const auto scale = [&](double* values) {
    for (std::size_t l = 0; l < distribution.parameters.size(); ++l)
      if (distribution.parameters[l].scales) values[l] *= unit;
  };
  scale(parameters);
  const double loss = distribution.negative_log_likelihood(parameters, count, slopes);
  if (slopes != nullptr) scale(slopes);
  return loss;
}

/// sum_i -log p(target[i]) over the targets that are not NaN, where y has the parameters of the first target's
/// distribution, then those of the next. `units` are for counts, one per target.
template <class T>
double likelihood_row(const T* y, const T* target, std::int64_t n, const TargetDistribution& distribution,
                      double scale, T* grad, const T* units = nullptr) {
  const auto each = std::ssize(distribution.parameters);
  double loss = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double parameters[TargetDistribution::kMostParameters], slopes[TargetDistribution::kMostParameters] = {};
    std::copy_n(y + i * each, each, parameters);
    if (!std::isnan(target[i]))
      loss += count_likelihood(distribution, parameters, target[i], units == nullptr ? 1 : units[i],
                               grad == nullptr ? nullptr : slopes);
    for (std::int64_t l = 0; grad != nullptr && l < each; ++l)
      grad[i * each + l] = static_cast<T>(scale * slopes[l]);
  }
  return loss;
}

/// sum over i, l of max(level[l] r, (level[l] - 1) r), r = target[i] - y[i * levels + l], for the targets that are
/// not NaN (Koenker and Bassett 1978). At r = 0 the gradient is 0.
template <class T>
double quantile_row(const T* y, const T* target, std::int64_t n, const double* level, std::int64_t levels,
                    double scale, T* grad) {
  double loss = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t l = 0; l < levels; ++l) {
      const std::int64_t j = i * levels + l;
      const double rest = std::isnan(target[i]) ? 0 : static_cast<double>(target[i]) - y[j];
      const double slope = rest > 0 ? level[l] : rest < 0 ? level[l] - 1 : 0;
      loss += slope * rest;
      if (grad != nullptr) grad[j] = static_cast<T>(-scale * slope);
    }
  }
  return loss;
}

/// log(1 + exp(logit)) - target * logit, the negative log-likelihood of a class 0 or 1 under sigmoid(logit).
template <class T>
double binary_cross_entropy_row(const T* logit, std::int32_t target, double scale, T* grad) {
  const double z = target == 1 ? -static_cast<double>(*logit) : static_cast<double>(*logit);
  const double decay = std::exp(-std::abs(z));                // in (0, 1]: neither end overflows
  const double slope = (z >= 0 ? 1.0 : decay) / (1 + decay);  // sigmoid(z)
  if (grad != nullptr) *grad = static_cast<T>(scale * (target == 1 ? -slope : slope));
  return std::max(z, 0.0) + std::log1p(decay);
}

/// weight * (log(1 + exp(logit)) - p * logit) with p = smoothing / 2, and 1 - smoothing more for target 1.
template <class T>
double smoothed_binary_cross_entropy_row(const T* logit, std::int32_t target, double weight, double smoothing,
                                         double scale, T* grad) {
  const double z = *logit, wanted = smoothing / 2 + (target == 1 ? 1 - smoothing : 0);
  const double decay = std::exp(-std::abs(z));
  const double sigmoid = (z >= 0 ? 1.0 : decay) / (1 + decay);
  if (grad != nullptr) *grad = static_cast<T>(scale * weight * (sigmoid - wanted));
  return weight * ((z >= 0 ? (1 - wanted) * z : -wanted * z) + std::log1p(decay));
}

}  // namespace lagtape
