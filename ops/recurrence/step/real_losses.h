#pragma once

#include <cstdint>

#include "lagtape/ops/loss_rows.h"
#include "lagtape/ops/recurrence/step/loss_function.h"

namespace lagtape {

/// Calls f(row) for a loss of real targets that is a sum over rows. row(y, target, scale, grad) is the loss of
/// a row of `numbers` targets, like those in loss_rows.h.
template <class T, class F>
void with_real_loss(const LossFunction& loss, std::int64_t numbers, F f) {
  if (loss == Loss::huber) {
    f([numbers, delta = loss.options.delta](const T* y, const T* target, double scale, T* grad) {
      return huber_row(y, target, numbers, delta, scale, grad);
    });
  } else if (loss == Loss::quantile) {
    f([numbers, levels = loss.options.levels.data(), count = loss.outputs_of_target()](
          const T* y, const T* target, double scale, T* grad) {
      return quantile_row(y, target, numbers, levels, count, scale, grad);
    });
  } else if (loss == Loss::mae) {
    f([numbers](const T* y, const T* target, double scale, T* grad) {
      return mae_row(y, target, numbers, scale, grad);
    });
  } else if (const TargetDistribution* distribution = loss.distribution()) {
    f([numbers, distribution](const T* y, const T* target, double scale, T* grad) {
      return likelihood_row(y, target, numbers, *distribution, scale, grad);
    });
  } else {
    f([numbers](const T* y, const T* target, double scale, T* grad) {
      return mse_row(y, target, numbers, scale, grad);
    });
  }
}

}  // namespace lagtape
