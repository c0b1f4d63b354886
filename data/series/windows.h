#pragma once

#include "lagtape/data/dataset.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

/// The rows of train, valid and test: consecutive parts of each series, or whole series in order. Segments end
/// where a part ends or a time is missing, and start at the first row that can be a step.
struct SeriesSplit {
  std::vector<RowRange> segments = {};
  std::int64_t rows = 0;    ///< total number of rows
  std::int64_t series = 0;  ///< number of series that they come from
};

/// The number of windows in consecutive rows.
std::int64_t windows_in(const RowRange& segment, const SeriesOptions& options, std::int64_t stride = 1);

std::vector<SeriesSplit> split_panel(const SeriesOptions& options, const Panel& panel);

/// Facts about each series, in addition to its rows.
struct SeriesFacts {
  std::vector<NaiveErrors> naive = {};             ///< for the targets, [series * targets]
  std::vector<Normalization> normalizations = {};  ///< [series]; empty: one for all
};

/// How a split is cut into windows.
struct WindowChoices {
  std::shared_ptr<const SeriesFacts> facts = {};
  /// WeightBy::series keeps the number of sequences, draws equally many windows from each series, and redraws
  /// them each epoch.
  WeightBy weight = WeightBy::row;
  /// Windows may start before the split's rows, so that its first rows are targets. Earlier targets are NaN.
  bool reads_before = false;
};

/// The windows of a split: sequences of `window` steps, one every `stride` steps of each segment.
class WindowDataset final : public Dataset {
 public:
  WindowDataset(const DataShape& shape, std::shared_ptr<const Panel> panel, const SeriesSplit& split,
                const SeriesOptions& options, std::int64_t stride, WindowChoices choices = {});

  std::int64_t size() const override;
  void read(std::int64_t index, Batch& batch, std::int64_t row) const override;
  std::span<const NaiveErrors> naive_errors(std::int64_t index) const override;
  const Normalization* normalization(std::int64_t index) const override;

  const Panel& panel() const { return *panel_; }
  std::int64_t horizon() const { return horizon_; }
  /// The number of series that have windows.
  std::int64_t series_count() const { return series_count_; }
  /// The row at which a window starts, in an epoch.
  std::int64_t first_row(std::int64_t index, std::int64_t epoch = 0) const {
    return start_of(index, epoch).row;
  }

 private:
  struct WindowRange {
    std::int64_t first = 0, count = 0;
  };
  /// Where a window starts, and the first row whose target counts.
  struct Start {
    std::int64_t row = 0, scored = 0;
  };

  Start start_of(std::int64_t index, std::int64_t epoch) const;
  std::int64_t series_of(std::int64_t index) const;

  std::shared_ptr<const Panel> panel_;
  std::vector<RowRange> segments_;
  std::vector<std::int64_t> scored_;  ///< by segment: the first row whose target counts
  std::vector<std::int64_t> firsts_;  ///< by segment: the number of windows up to its end
  std::int64_t window_, horizon_, stride_;
  WindowChoices choices_;
  std::vector<WindowRange> by_series_ =
      {};                  ///< the windows of each series that has any; only for WeightBy::series
  std::int64_t each_ = 0;  ///< sequences of each of these series
  std::int64_t series_count_ = 0;
};

/// The default training stride: windows side by side, or the largest smaller stride with at least
/// kEnoughUpdates updates per epoch.
std::int64_t training_stride(const SeriesSplit& split, const SeriesOptions& options);

/// With fewer updates per epoch, the schedule of a training run is hard to choose.
inline constexpr std::int64_t kEnoughUpdates = 10;

}  // namespace lagtape
