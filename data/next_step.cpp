#include "lagtape/data/next_step.h"

#include <algorithm>

namespace lagtape {

NextStepDataset::NextStepDataset(Tensor series)
    : Dataset({.length = series.size(1) - 1,
               .input = series.size(2),
               .output = series.size(2),
               .classes = 0,
               .every_step = true}),
      series_(std::move(series)) {}

void NextStepDataset::read(std::int64_t index, Batch& batch, std::int64_t row) const {
  const auto width = static_cast<std::size_t>(shape().input);
  const auto count = static_cast<std::size_t>(shape().length) * width;
  with_scalar(series_.dtype(), [&]<class From>() {
    auto series =
        series_.values<From>().subspan(static_cast<std::size_t>(index) * (count + width), count + width);
    with_scalar(batch.x.dtype(), [&]<class To>() {
      const auto at = static_cast<std::size_t>(row) * static_cast<std::size_t>(batch.x.size(1)) * width;
      auto rounded = [](From value) { return static_cast<To>(value); };
      std::transform(series.begin(), series.begin() + count, batch.x.values<To>().begin() + at, rounded);
      std::transform(series.begin() + width, series.end(), batch.y.values<To>().begin() + at, rounded);
    });
  });
}

}  // namespace lagtape
