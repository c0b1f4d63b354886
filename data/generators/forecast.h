#pragma once

#include "lagtape/data/dataset.h"

namespace lagtape {

/// A series s to be predicted: x[n] = s[n], y[n] = s[n + horizon] at every step.
class ForecastDataset final : public Dataset {
 public:
  /// The series are [N, T + horizon, width]; horizon >= 1.
  ForecastDataset(Tensor series, std::int64_t horizon);

  std::int64_t size() const override { return series_.size(0); }
  void read(std::int64_t index, Batch& batch, std::int64_t row) const override;

 private:
  Tensor series_;
  std::int64_t horizon_;
};

}  // namespace lagtape
