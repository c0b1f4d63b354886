#include "lagtape/data/series/windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lagtape {

namespace {

/// Copies a column's rows first .. first + steps - 1 to position i of each step in a row of a batch.
/// `is_target`: NaN if no number was measured.
void copy(const Column& column, std::int64_t first, std::int64_t steps, bool is_target, Tensor& batch,
          std::int64_t row, std::size_t i) {
  const std::int64_t width = batch.size(-1);
  with_scalar(batch.dtype(), [&]<class To>() {
    To* to = batch.values<To>().data() + row * steps * width + i;
    with_scalar(column.values.dtype(), [&]<class From>() {
      const From* from = column.values.values<From>().data() + column.first + first * column.stride;
      for (std::int64_t n = 0; n < steps; ++n) to[n * width] = static_cast<To>(from[n * column.stride]);
    });
    for (std::int64_t n = 0; is_target && n < steps; ++n)
      if (column.is_filled(first + n)) to[n * width] = std::numeric_limits<To>::quiet_NaN();
  });
}

/// The ends of train, valid and test among this many rows or recordings, in order. If there are enough
/// recordings, each nonzero share gets at least one.
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

std::int64_t windows_in(const RowRange& segment, const SeriesOptions& options, std::int64_t stride) {
  const std::int64_t spare = segment.rows - options.window - options.horizon;
  return spare < 0 ? 0 : spare / stride + 1;
}

std::vector<SeriesSplit> split_panel(const SeriesOptions& options, const Panel& panel) {
  constexpr std::size_t kSets = 3;
  const std::int64_t series = std::ssize(panel.series), lead = panel.lead();
  std::vector<SeriesSplit> splits(kSets);
  auto segment = panel.segments.begin();
  // Assigns rows begin .. end - 1 of one series to a set. Rows come in order.
  const auto deal = [&](SeriesSplit& split, std::int64_t begin, std::int64_t end) {
    split.rows += end - begin;
    split.series += 1;
    while (segment != panel.segments.end() && segment->first < end) {
      const std::int64_t from = std::max(segment->first + lead, begin);
      const std::int64_t to = std::min(segment->end(), end);
      if (from < to) split.segments.push_back({from, to - from});
      if (segment->end() > end) break;
      ++segment;
    }
  };
  if (series > 1 && options.split == SplitBy::series) {
    const std::vector<std::int64_t> ends = ends_of_shares(options, series, true);
    std::size_t set = 0;
    for (std::int64_t i = 0; i < ends.back(); ++i) {
      while (i >= ends[set]) ++set;
      const PanelSeries& one = panel.series[static_cast<std::size_t>(i)];
      deal(splits[set], one.first, one.end());
    }
    return splits;
  }
  for (const PanelSeries& one : panel.series) {
    const std::vector<std::int64_t> ends = ends_of_shares(options, one.rows, false);
    for (std::size_t i = 0; i < kSets; ++i)
      deal(splits[i], one.first + (i == 0 ? 0 : ends[i - 1]), one.first + ends[i]);
    while (segment != panel.segments.end() && segment->first < one.end()) ++segment;
  }
  return splits;
}

namespace {

/// A part of a segment with the rows before it, so that its first rows are targets of windows, like all others.
RowRange with_rows_before(const RowRange& part, const Panel& panel, const SeriesOptions& options) {
  const RowRange& whole = *(std::ranges::upper_bound(panel.segments, part.first, {}, &RowRange::first) - 1);
  const std::int64_t windows = options.every_step ? (part.rows - 1) / options.window + 1 : 1;
  const std::int64_t reach = options.every_step ? windows * options.window + options.horizon - part.rows
                                                : options.window + options.horizon - 1;
  const std::int64_t first = std::max(whole.first + panel.lead(), part.first - reach);
  return {first, part.end() - first};
}

}  // namespace

WindowDataset::WindowDataset(const DataShape& shape, std::shared_ptr<const Panel> panel,
                             const SeriesSplit& split, const SeriesOptions& options, std::int64_t stride,
                             WindowChoices choices)
    : Dataset(shape),
      panel_(std::move(panel)),
      segments_(split.segments),
      window_(options.window),
      horizon_(options.horizon),
      stride_(stride),
      choices_(std::move(choices)) {
  std::int64_t windows = 0, before = -1;
  for (RowRange& segment : segments_) {
    const std::int64_t first = windows;
    scored_.push_back(choices_.reads_before ? segment.first : 0);
    if (choices_.reads_before && segment.rows > 0) segment = with_rows_before(segment, *panel_, options);
    firsts_.push_back(windows += windows_in(segment, options, stride));
    if (windows == first) continue;
    const std::int64_t series = panel_->series_of(segment.first);
    const bool is_new = series != std::exchange(before, series);
    series_count_ += is_new ? 1 : 0;
    if (choices_.weight == WeightBy::row) continue;
    if (is_new) by_series_.push_back({.first = first});
    by_series_.back().count += windows - first;
  }
  if (!by_series_.empty()) each_ = (windows - 1) / std::ssize(by_series_) + 1;
}

std::int64_t WindowDataset::size() const {
  if (!by_series_.empty()) return each_ * std::ssize(by_series_);
  return firsts_.empty() ? 0 : firsts_.back();
}

WindowDataset::Start WindowDataset::start_of(std::int64_t index, std::int64_t epoch) const {
  if (!by_series_.empty()) {
    const WindowRange& own = by_series_[static_cast<std::size_t>(index % std::ssize(by_series_))];
    const std::int64_t turn = index / std::ssize(by_series_) + std::max<std::int64_t>(epoch, 0) * each_;
    index = own.first + turn % own.count;
  }
  const auto segment = std::ranges::upper_bound(firsts_, index) - firsts_.begin();
  const std::int64_t before = segment == 0 ? 0 : firsts_[static_cast<std::size_t>(segment - 1)];
  return {segments_[static_cast<std::size_t>(segment)].first + (index - before) * stride_,
          scored_[static_cast<std::size_t>(segment)]};
}

void WindowDataset::read(std::int64_t index, Batch& batch, std::int64_t row) const {
  const auto [first, first_scored] = start_of(index, batch.epoch);
  const std::int64_t last = first + window_ - 1;
  for (std::size_t i = 0; i < panel_->input.size(); ++i) {
    const PanelInput& input = panel_->input[i];
    copy(panel_->column(input.column), input.row(first), window_, false, batch.x, row, i);
  }
  const std::int64_t scored = shape().every_step ? window_ : 1, first_target = last + horizon_ + 1 - scored;
  const std::int64_t width = std::ssize(panel_->target);
  // Steps whose past starts before the window know too little for the linear term.
  const std::int64_t unknown = shape().every_step && shape().linear ? shape().linear->reach() : 0;
  const std::int64_t left_out = std::min(std::max(unknown, first_scored - first_target), scored);
  for (std::int64_t i = 0; i < width; ++i) {
    copy(panel_->target_column(i), first_target, scored, true, batch.y, row, static_cast<std::size_t>(i));
    for (std::int64_t n = 0; n < left_out; ++n)
      batch.y.set((row * scored + n) * width + i, std::numeric_limits<double>::quiet_NaN());
  }
}

std::int64_t WindowDataset::series_of(std::int64_t index) const {
  return panel_->series_of(first_row(index));
}

std::span<const NaiveErrors> WindowDataset::naive_errors(std::int64_t index) const {
  if (!choices_.facts || choices_.facts->naive.empty()) return {};
  const std::size_t targets = panel_->target.size();
  return std::span(choices_.facts->naive)
      .subspan(static_cast<std::size_t>(series_of(index)) * targets, targets);
}

const Normalization* WindowDataset::normalization(std::int64_t index) const {
  if (!choices_.facts || choices_.facts->normalizations.empty()) return nullptr;
  return &choices_.facts->normalizations[static_cast<std::size_t>(series_of(index))];
}

std::int64_t training_stride(const SeriesSplit& split, const SeriesOptions& options) {
  if (options.stride > 0) return options.stride;
  if (!options.every_step) return 1;
  const std::int64_t enough = (kEnoughUpdates - 1) * options.batch + 1;
  for (std::int64_t stride = options.window; stride > 1; stride -= (stride + 15) / 16) {
    std::int64_t windows = 0;
    for (const RowRange& segment : split.segments) windows += windows_in(segment, options, stride);
    if (windows >= enough) return stride;
  }
  return 1;
}

}  // namespace lagtape
