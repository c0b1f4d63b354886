#include "lagtape/optim/adam.h"

#include <cmath>

namespace lagtape {

namespace {

/// The factors of one update, in the parameter's precision; powers of beta are computed in f64.
template <class T>
struct AdamFactors {
  T beta1, one_minus_beta1, beta2, one_minus_beta2, eps, l2, shrink, rate, root_correction;

  AdamFactors(const AdamOptions& options, std::int64_t t, double lr)
      : beta1(static_cast<T>(options.beta1)),
        one_minus_beta1(static_cast<T>(1 - options.beta1)),
        beta2(static_cast<T>(options.beta2)),
        one_minus_beta2(static_cast<T>(1 - options.beta2)),
        eps(static_cast<T>(options.eps)),
        l2(static_cast<T>(options.decoupled ? 0 : options.weight_decay)),
        shrink(static_cast<T>(options.decoupled ? 1 - lr * options.weight_decay : 1)),
        rate(static_cast<T>(lr / (1 - std::pow(options.beta1, static_cast<double>(t))))),
        root_correction(static_cast<T>(std::sqrt(1 - std::pow(options.beta2, static_cast<double>(t))))) {}
};

template <class T>
void adam_update(std::span<T> w, std::span<const T> grad, std::span<T> m, std::span<T> v,
                 const AdamFactors<T>& f) {
  for (std::size_t i = 0; i < w.size(); ++i) {
    w[i] *= f.shrink;
    const T g = grad[i] + f.l2 * w[i];
    m[i] = f.beta1 * m[i] + f.one_minus_beta1 * g;
    v[i] = f.beta2 * v[i] + f.one_minus_beta2 * g * g;
    w[i] -= f.rate * m[i] / (std::sqrt(v[i]) / f.root_correction + f.eps);
  }
}

}  // namespace

Adam::Adam(const Parameters& parameters, const AdamOptions& options, std::vector<ParameterGroup> groups)
    : Optimizer(parameters, {"m", "v"}, std::move(groups)), options_(options) {}

void Adam::update(Parameter& parameter, std::span<Tensor> slots, double lr) {
  with_scalar(parameter.value.dtype(), [&]<class T>() {
    adam_update<T>(parameter.value.values<T>(), parameter.grad.values<T>(), slots[0].values<T>(),
                   slots[1].values<T>(), AdamFactors<T>(options_, steps(), lr));
  });
}

}  // namespace lagtape
