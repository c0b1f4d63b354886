#pragma once

#include "lagtape/optim/optimizer.h"

namespace lagtape {

struct SgdOptions {
  double momentum = 0.0;
  double weight_decay = 0.0;  ///< L2: weight_decay * w is added to the gradient
};

/// Stochastic gradient descent with momentum, as in PyTorch (the rate is outside the velocity):
///   g = grad + weight_decay w,   v = momentum v + g  (v = g in the first update),   w = w - lr v
class Sgd final : public Optimizer {
 public:
  explicit Sgd(const Parameters& parameters, const SgdOptions& options = {},
               std::vector<ParameterGroup> groups = {});

 private:
  void update(Parameter& parameter, std::span<Tensor> slots, double lr) override;
  SgdOptions options_;
};

}  // namespace lagtape
