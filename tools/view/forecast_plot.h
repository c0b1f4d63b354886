#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/core/normalization.h"
#include "lagtape/core/tensor.h"
#include "lagtape/data/dataset.h"
#include "lagtape/ops/recurrence/step/loss_function.h"
#include "lagtape/tools/chart/row_axis.h"

namespace lagtape {

/// Collects a model's predictions with their truth, and draws them over each other in the units of the data.
/// With a target at every step, it shows the last kMost steps of the first sequence, otherwise the first kMost
/// sequences, one point each.
class ForecastPlot {
 public:
  static constexpr std::int64_t kMost = 600;

  /// `scaling` belongs to the targets. The quantile nearest to the median is drawn as a line, and the widest
  /// interval as a band. Throws InputError if the targets are classes.
  ForecastPlot(const DataShape& data, const Scaling& scaling, LossFunction loss = Loss::mse);

  /// Adds a batch of a split, or the next stretch of steps of one sequence; batches come in split order.
  /// `outputs`: [B, q] or [B, T, q], normalized like the targets `batch.y`, which have the same shape unless
  /// there are several outputs per target.
  void add(const Tensor& outputs, const Batch& batch) { add(outputs, batch, 0, batch.size()); }
  /// Adds its rows first .. end - 1.
  void add(const Tensor& outputs, const Batch& batch, std::int64_t first, std::int64_t end);

  /// For windows of a recording, the chart has dates, names and units, and the name of the series if all
  /// windows belong to one of several; `split` is the set of the batches. `names`: names for a target's numbers
  /// otherwise; without them they are numbered.
  Plot plot(const std::string& title, const Dataset* split = nullptr,
            const std::vector<std::string>& names = {}) const;

 private:
  void add_row(const Tensor& outputs, const Batch& batch, std::int64_t row, std::int64_t steps);
  RowAxis axis_of(const Dataset* split) const;

  bool every_step_;
  Scaling scaling_;
  LossFunction loss_;
  std::vector<std::int64_t> ids_ = {};  ///< the sequences to draw
  std::int64_t points_ = 0;             ///< added so far
  /// One list for each number of a target; bounds of an interval only for quantiles.
  std::vector<std::vector<double>> truth_, predicted_, low_, high_;
};

}  // namespace lagtape
