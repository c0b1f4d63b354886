#pragma once

#include "lagtape/data/dataset.h"

namespace lagtape {

/// Series to be continued: x[n] = s[n], y[n] = s[n + 1] at every step.
class NextStepDataset final : public Dataset {
 public:
  /// series: [N, T + 1, width].
  explicit NextStepDataset(Tensor series);

  std::int64_t size() const override { return series_.size(0); }
  void read(std::int64_t index, Batch& batch, std::int64_t row) const override;

 private:
  Tensor series_;
};

}  // namespace lagtape
