#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lagtape {

// The arithmetic of the losses, one row at a time, in double and in order. Every place that computes a loss
// uses it. Each returns the row's loss; when grad is not null it writes grad[j] = scale * dloss/d(input j),
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

/// log(1 + exp(logit)) - target * logit, the negative log-likelihood of a class 0 or 1 under sigmoid(logit).
template <class T>
double binary_cross_entropy_row(const T* logit, std::int32_t target, double scale, T* grad) {
  const double z = target == 1 ? -static_cast<double>(*logit) : static_cast<double>(*logit);
  const double decay = std::exp(-std::abs(z));                // in (0, 1]: neither end overflows
  const double slope = (z >= 0 ? 1.0 : decay) / (1 + decay);  // sigmoid(z)
  if (grad != nullptr) *grad = static_cast<T>(scale * (target == 1 ? -slope : slope));
  return std::max(z, 0.0) + std::log1p(decay);
}

}  // namespace lagtape
