#include "lagtape/optim/rmsprop.h"

#include <cmath>

namespace lagtape {

namespace {

template <class T>
void descend(std::span<T> w, std::span<const T> grad, std::span<T> square, const RmspropOptions& options,
             T lr) {
  const T alpha = static_cast<T>(options.alpha), rest = static_cast<T>(1 - options.alpha);
  const T eps = static_cast<T>(options.eps), decay = static_cast<T>(options.weight_decay);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const T g = grad[i] + decay * w[i];
    square[i] = alpha * square[i] + rest * g * g;
    w[i] -= lr * g / (std::sqrt(square[i]) + eps);
  }
}

}  // namespace

Rmsprop::Rmsprop(const Parameters& parameters, const RmspropOptions& options,
                 std::vector<ParameterGroup> groups)
    : Optimizer(parameters, {"square"}, std::move(groups)), options_(options) {}

void Rmsprop::update(Parameter& parameter, std::span<Tensor> slots, double lr) {
  with_scalar(parameter.value.dtype(), [&]<class T>() {
    const std::span<const T> grad = parameter.grad.values<T>();
    descend<T>(parameter.value.values<T>(), grad, slots[0].values<T>(), options_, static_cast<T>(lr));
  });
}

}  // namespace lagtape
