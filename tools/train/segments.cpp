#include "lagtape/tools/train/segments.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace lagtape {

namespace {

/// The rows `rows` of [B, n], or of the steps first .. first + steps - 1 of [B, T, n].
Tensor slice(const Tensor& whole, std::span<const std::int64_t> rows, std::int64_t first,
             std::int64_t steps) {
  Shape shape = whole.shape();
  const std::int64_t n = shape.back(), total = whole.rank() == 3 ? shape[1] : 1;
  shape[0] = static_cast<std::int64_t>(rows.size());
  if (whole.rank() == 3) {
    shape[1] = steps;
  } else {
    first = 0;
    steps = 1;
  }
  Tensor part(shape, whole.dtype());
  const std::size_t number = byte_size(whole.dtype());
  auto* out = static_cast<char*>(part.raw());
  for (const std::int64_t row : rows) {
    const auto* in = static_cast<const char*>(whole.raw()) + (row * total + first) * n * number;
    std::memcpy(out, in, steps * n * number);
    out += steps * n * number;
  }
  return part;
}

}  // namespace

Segment segment_of(const SequenceBatch& batch, std::int64_t first, std::int64_t steps) {
  const std::int64_t total = batch.x.size(1);
  Segment segment;
  SequenceBatch& part = segment.batch;
  for (std::int64_t row = 0; row < batch.x.size(0); ++row) {
    const std::int64_t left = (batch.lengths.empty() ? total : batch.lengths[row]) - first;
    if (left <= 0) continue;
    segment.rows.push_back(row);
    part.lengths.push_back(std::min(left, steps));
    part.draws.sequences.push_back(batch.draws.sequences.empty() ? row : batch.draws.sequences[row]);
  }
  if (segment.rows.empty()) return segment;
  steps = *std::max_element(part.lengths.begin(), part.lengths.end());
  part.x = slice(batch.x, segment.rows, first, steps);
  if (!batch.targets.empty()) part.targets = slice(batch.targets, segment.rows, first, steps);
  if (!batch.classes.empty()) {
    const bool at_every_step = static_cast<std::int64_t>(batch.classes.size()) == batch.x.size(0) * total;
    for (const std::int64_t row : segment.rows) {
      const auto begin = batch.classes.begin() + (at_every_step ? row * total + first : row);
      part.classes.insert(part.classes.end(), begin, begin + (at_every_step ? steps : 1));
    }
  }
  part.first_step = batch.first_step + first;
  part.draws.seed = batch.draws.seed;
  part.draws.epoch = batch.draws.epoch;
  part.training = batch.training;
  return segment;
}

double share_of(const SegmentProgress& progress, const SequenceBatch& batch) {
  return static_cast<double>(progress.steps) / static_cast<double>(batch.x.size(1));
}

bool is_within(const SegmentProgress& progress, std::span<const std::int64_t> lengths) {
  const auto& rows = progress.rows;
  if (std::ranges::adjacent_find(rows, std::greater_equal{}) != rows.end()) return false;
  std::int64_t left = 0;  // rows that are not over
  for (std::int64_t row = 0; row < std::ssize(lengths); ++row) {
    if (lengths[static_cast<std::size_t>(row)] <= progress.steps) continue;
    if (!std::ranges::binary_search(rows, row)) return false;
    ++left;
  }
  return left > 0 && rows.back() < std::ssize(lengths);
}

Window carry(const Window& window, std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  if (from.size() == to.size()) return window;
  std::vector<std::int64_t> places;
  for (const std::int64_t row : to) places.push_back(std::find(from.begin(), from.end(), row) - from.begin());
  Window part;
  for (const Tensor& state : window.states) {
    const std::int64_t batch = state.size(1);
    const std::int64_t width = state.numel() / (state.size(0) * batch);
    Shape shape = state.shape();
    shape[1] = static_cast<std::int64_t>(places.size());
    Tensor some(shape, state.dtype());
    const std::size_t bytes = width * byte_size(state.dtype());
    auto* out = static_cast<char*>(some.raw());
    for (std::int64_t n = 0; n < state.size(0); ++n) {
      for (const std::int64_t row : places) {
        std::memcpy(out, static_cast<const char*>(state.raw()) + (n * batch + row) * bytes, bytes);
        out += bytes;
      }
    }
    part.states.push_back(std::move(some));
  }
  return part;
}

}  // namespace lagtape
