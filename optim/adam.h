#pragma once

#include "lagtape/optim/optimizer.h"

namespace lagtape {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  bool decoupled = false;  ///< AdamW: the decay shrinks the weight itself instead of joining the gradient
};

/// Adam (Kingma and Ba 2015), in PyTorch's form; with `decoupled`, AdamW (Loshchilov and Hutter 2019).
/// Update t:
///   AdamW: w = (1 - lr weight_decay) w;   Adam: g = grad + weight_decay w
///   m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
///   w = w - lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
class Adam final : public Optimizer {
 public:
  explicit Adam(const Parameters& parameters, const AdamOptions& options = {},
                std::vector<ParameterGroup> groups = {});

 private:
  void update(Parameter& parameter, std::span<Tensor> slots, double lr) override;
  AdamOptions options_;
};

}  // namespace lagtape
