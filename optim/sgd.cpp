#include "lagtape/optim/sgd.h"

namespace lagtape {

namespace {

std::vector<std::string> slots_of(const SgdOptions& options) {
  if (options.momentum == 0) return {};
  return {"velocity"};
}

template <class T>
void descend(std::span<T> w, std::span<const T> grad, std::span<T> velocity, const SgdOptions& options,
             T lr) {
  const T momentum = static_cast<T>(options.momentum), decay = static_cast<T>(options.weight_decay);
  for (std::size_t i = 0; i < w.size(); ++i) {
    T g = grad[i] + decay * w[i];
    if (!velocity.empty()) g = velocity[i] = momentum * velocity[i] + g;
    w[i] -= lr * g;
  }
}

}  // namespace

Sgd::Sgd(const Parameters& parameters, const SgdOptions& options, std::vector<ParameterGroup> groups)
    : Optimizer(parameters, slots_of(options), std::move(groups)), options_(options) {}

void Sgd::update(Parameter& parameter, std::span<Tensor> slots, double lr) {
  with_scalar(parameter.value.dtype(), [&]<class T>() {
    std::span<const T> grad = parameter.grad.values<T>();
    std::span<T> velocity = slots.empty() ? std::span<T>() : slots[0].values<T>();
    descend<T>(parameter.value.values<T>(), grad, velocity, options_, static_cast<T>(lr));
  });
}

}  // namespace lagtape
