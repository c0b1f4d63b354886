#pragma once

#include "lagtape/optim/optimizer.h"

namespace lagtape {

struct RmspropOptions {
  double alpha = 0.99;  ///< the fraction of the mean square that an update keeps
  double eps = 1e-8;
  double weight_decay = 0.0;  ///< L2: weight_decay * w is added to the gradient
};

/// RMSprop (Tieleman and Hinton 2012), as in PyTorch, without momentum:
///   g = grad + weight_decay w,   s = alpha s + (1 - alpha) g^2  (s = 0 at first),
///   w = w - lr g / (sqrt(s) + eps)
class Rmsprop final : public Optimizer {
 public:
  explicit Rmsprop(const Parameters& parameters, const RmspropOptions& options = {},
                   std::vector<ParameterGroup> groups = {});

 private:
  void update(Parameter& parameter, std::span<Tensor> slots, double lr) override;
  RmspropOptions options_;
};

}  // namespace lagtape
