#include "lagtape/optim/clip.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

/// Calls f(g), in f64, for the numbers of every trainable gradient in order.
template <class F>
void for_each_gradient(const Parameters& parameters, F f) {
  for (const Parameter& parameter : parameters) {
    if (!parameter.trainable) continue;
    with_scalar(parameter.grad.dtype(), [&]<class T>() {
      for (T g : parameter.grad.values<T>()) f(static_cast<double>(g));
    });
  }
}

}  // namespace

double gradient_norm(const Parameters& parameters) {
  double squares = 0;
  for_each_gradient(parameters, [&](double g) { squares += g * g; });
  if (std::isfinite(squares)) return std::sqrt(squares);
  // The square of a finite number may be infinite.
  double largest = 0, parts = 0;
  for_each_gradient(parameters, [&](double g) { largest = std::max(largest, std::abs(g)); });
  if (!std::isfinite(largest)) return std::sqrt(squares);
  for_each_gradient(parameters, [&](double g) { parts += g / largest * (g / largest); });
  return largest * std::sqrt(parts);
}

double clip_gradient_norm(Parameters& parameters, double max_norm) {
  if (!(max_norm > 0)) {
    throw InputError({.op = "clip"}, Rule::out_of_range, "the largest norm must be above 0",
                     text_of(max_norm));
  }
  const double norm = gradient_norm(parameters);
  const double scale = max_norm / (norm + 1e-6);
  if (!std::isfinite(norm) || scale >= 1) return norm;
  for (Parameter& parameter : parameters) {
    if (!parameter.trainable) continue;
    with_scalar(parameter.grad.dtype(), [&]<class T>() {
      for (T& g : parameter.grad.values<T>()) g *= static_cast<T>(scale);
    });
  }
  return norm;
}

}  // namespace lagtape
