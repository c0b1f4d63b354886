#include "lagtape/optim/clip.h"

#include <cmath>

#include "lagtape/core/error.h"

namespace lagtape {

double gradient_norm(const Parameters& parameters) {
  double squares = 0;
  for (const Parameter& parameter : parameters) {
    if (!parameter.trainable) continue;
    with_scalar(parameter.grad.dtype(), [&]<class T>() {
      for (T g : parameter.grad.values<T>()) squares += static_cast<double>(g) * static_cast<double>(g);
    });
  }
  return std::sqrt(squares);
}

double clip_gradient_norm(Parameters& parameters, double max_norm) {
  if (!(max_norm > 0)) {
    throw InputError(concat("[clip] the largest norm must be above 0. Got ", max_norm, "."));
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
