#include "lagtape/data/series/windows.h"

#include <algorithm>
#include <cmath>

namespace lagtape {

namespace {

std::int64_t windows_in(const Stretch& stretch, const SeriesOptions& options, std::int64_t stride) {
  const std::int64_t spare = stretch.rows - options.window - options.horizon;
  return spare < 0 ? 0 : spare / stride + 1;
}

/// Copies some columns of the rows first .. first + steps - 1 into a row of a batch.
void copy(const Tensor& values, std::int64_t first, std::int64_t steps,
          const std::vector<std::int64_t>& columns, Tensor& batch, std::int64_t row) {
  with_scalar(values.dtype(), [&]<class From>() {
    const From* from = values.values<From>().data() + first * values.size(1);
    with_scalar(batch.dtype(), [&]<class To>() {
      To* to = batch.values<To>().data() + row * steps * static_cast<std::int64_t>(columns.size());
      for (std::int64_t n = 0; n < steps; ++n, from += values.size(1)) {
        for (const std::int64_t column : columns) *to++ = static_cast<To>(from[column]);
      }
    });
  });
}

/// The ends of train, valid and test among so many rows or recordings, in their order. Where there are enough
/// recordings, each share that is not 0 has one at least.
std::vector<std::int64_t> ends_of_shares(const SeriesOptions& options, std::int64_t dealt,
                                         bool are_recordings) {
  const double shares[] = {options.train, options.valid, options.test};
  std::vector<std::int64_t> ends;
  double share = 0;
  for (const double part : shares) {
    share += part;
    ends.push_back(std::min<std::int64_t>(std::llround(share * static_cast<double>(dealt)), dealt));
  }
  const std::int64_t sets = std::ranges::count_if(shares, [](double part) { return part > 0; });
  if (!are_recordings || dealt < sets) return ends;
  for (std::size_t i = 0; i < 3; ++i)
    if (shares[i] > 0) ends[i] = std::max(ends[i], (i == 0 ? 0 : ends[i - 1]) + 1);
  std::int64_t most = dealt;
  for (std::size_t i = 3; i-- > 0;) {
    ends[i] = std::min(ends[i], most);
    most = ends[i] - (shares[i] > 0 ? 1 : 0);
  }
  return ends;
}

}  // namespace

std::vector<SeriesSplit> split_recordings(const SeriesOptions& options, const Recordings& recordings) {
  const std::int64_t series = std::ssize(recordings.recordings), rows = recordings.values.size(0);
  const std::int64_t dealt = series == 1 ? rows : series;
  std::vector<SeriesSplit> splits;
  const std::vector<std::int64_t> ends = ends_of_shares(options, dealt, series > 1);
  std::int64_t first = 0;
  for (const std::int64_t end : ends) {
    SeriesSplit& split = splits.emplace_back();
    split.series = series == 1 ? 1 : end - first;
    const auto row_at = [&](std::int64_t i) {
      if (series == 1) return i;
      return i == series ? rows : recordings.recordings[static_cast<std::size_t>(i)].first;
    };
    const std::int64_t begin = row_at(first), stop = row_at(end);
    for (const Stretch& stretch : recordings.stretches) {
      const std::int64_t from = std::max(stretch.first, begin);
      const std::int64_t to = std::min(stretch.first + stretch.rows, stop);
      if (from < to) split.stretches.push_back({from, to - from});
    }
    split.rows = stop - begin;
    first = end;
  }
  return splits;
}

WindowDataset::WindowDataset(const DataShape& shape, std::shared_ptr<const Recordings> recordings,
                             const SeriesSplit& split, const SeriesOptions& options, std::int64_t stride)
    : Dataset(shape),
      recordings_(std::move(recordings)),
      stretches_(split.stretches),
      window_(options.window),
      horizon_(options.horizon),
      stride_(stride) {
  std::int64_t windows = 0;
  for (const Stretch& stretch : stretches_)
    firsts_.push_back(windows += windows_in(stretch, options, stride));
}

std::int64_t WindowDataset::first_row(std::int64_t index) const {
  const auto stretch = std::ranges::upper_bound(firsts_, index) - firsts_.begin();
  const std::int64_t before = stretch == 0 ? 0 : firsts_[static_cast<std::size_t>(stretch - 1)];
  return stretches_[static_cast<std::size_t>(stretch)].first + (index - before) * stride_;
}

void WindowDataset::read(std::int64_t index, Batch& batch, std::int64_t row) const {
  const std::int64_t first = first_row(index), last = first + window_ - 1;
  copy(recordings_->values, first, window_, recordings_->input, batch.x, row);
  if (shape().every_step) {
    copy(recordings_->values, first + horizon_, window_, recordings_->target, batch.y, row);
  } else {
    copy(recordings_->values, last + horizon_, 1, recordings_->target, batch.y, row);
  }
}

std::int64_t training_stride(const SeriesSplit& split, const SeriesOptions& options) {
  if (options.stride > 0) return options.stride;
  if (!options.every_step) return 1;
  const std::int64_t enough = (kEnoughUpdates - 1) * options.batch + 1;
  for (std::int64_t stride = options.window; stride > 1; stride -= (stride + 15) / 16) {
    std::int64_t windows = 0;
    for (const Stretch& stretch : split.stretches) windows += windows_in(stretch, options, stride);
    if (windows >= enough) return stride;
  }
  return 1;
}

}  // namespace lagtape
