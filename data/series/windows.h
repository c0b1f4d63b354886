#pragma once

#include "lagtape/data/dataset.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// The rows of train, valid and test: parts of each series in time, or whole series in their order.
/// Segments end where either a part ends or a time is missing, and begin at the first row that can be a step.
struct SeriesSplit {
  std::vector<RowRange> segments = {};
  std::int64_t rows = 0;       ///< number of rows in all
  std::int64_t series = 0;     ///< number of series that they come from
  std::int64_t too_short = 0;  ///< number of these that are too short for a window
};

std::vector<SeriesSplit> split_panel(const SeriesOptions& options, const Panel& panel);

/// The naive errors of the targets of each series, [series * targets].
using SeriesNaiveErrors = std::shared_ptr<const std::vector<NaiveErrors>>;

/// The windows of a split: sequences of `window` steps, one every `stride` steps of each segment.
class WindowDataset final : public Dataset {
 public:
  WindowDataset(const DataShape& shape, std::shared_ptr<const Panel> panel, const SeriesSplit& split,
                const SeriesOptions& options, std::int64_t stride, SeriesNaiveErrors naive = {});

  std::int64_t size() const override { return firsts_.empty() ? 0 : firsts_.back(); }
  void read(std::int64_t index, Batch& batch, std::int64_t row) const override;
  std::span<const NaiveErrors> naive_errors(std::int64_t index) const override;

  /// The row at which a window begins.
  std::int64_t first_row(std::int64_t index) const;

 private:
  std::shared_ptr<const Panel> panel_;
  std::vector<RowRange> segments_;
  std::vector<std::int64_t> firsts_;  ///< by segment: the number of windows up to its end
  std::int64_t window_, horizon_, stride_;
  SeriesNaiveErrors naive_;
};

/// The stride of training when none is given: that of windows side by side, or the largest smaller one with which
/// an epoch has at least kEnoughUpdates updates.
std::int64_t training_stride(const SeriesSplit& split, const SeriesOptions& options);

/// Below so many updates an epoch, the schedule of a training is hard to set.
inline constexpr std::int64_t kEnoughUpdates = 10;

}  // namespace lagtape
