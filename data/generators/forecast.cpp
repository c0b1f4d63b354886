#include "lagtape/data/generators/forecast.h"

#include <algorithm>

namespace lagtape {

ForecastDataset::ForecastDataset(Tensor series, std::int64_t horizon)
    : Dataset({.length = series.size(1) - horizon,
               .input = series.size(2),
               .output = series.size(2),
               .every_step = true}),
      series_(std::move(series)),
      horizon_(horizon) {}

void ForecastDataset::read(std::int64_t index, Batch& batch, std::int64_t row) const {
  const auto width = static_cast<std::size_t>(shape().input);
  const auto count = static_cast<std::size_t>(shape().length) * width;
  const auto ahead = static_cast<std::size_t>(horizon_) * width;
  with_scalar(series_.dtype(), [&]<class From>() {
    auto series =
        series_.values<From>().subspan(static_cast<std::size_t>(index) * (count + ahead), count + ahead);
    with_scalar(batch.x.dtype(), [&]<class To>() {
      const auto at = static_cast<std::size_t>(row) * static_cast<std::size_t>(batch.x.size(1)) * width;
      auto rounded = [](From value) { return static_cast<To>(value); };
      std::transform(series.begin(), series.begin() + count, batch.x.values<To>().begin() + at, rounded);
      std::transform(series.begin() + ahead, series.end(), batch.y.values<To>().begin() + at, rounded);
    });
  });
}

}  // namespace lagtape
