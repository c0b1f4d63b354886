#include "lagtape/data/stored_sequences.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "lagtape/data/moments.h"
#include "lagtape/data/streams.h"

namespace lagtape {

std::int64_t StoredSequences::longest() const {
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < size(); ++i) longest = std::max(longest, length(i));
  return longest;
}

namespace {

/// Reduces sequence i to the steps kept(i, its length), which are ascending.
template <class Kept>
void keep(StoredSequences& sequences, const Kept& kept) {
  sequences.with_inputs([&](auto& inputs) {
    const auto all = std::exchange(inputs, {});
    const std::vector<std::int64_t> starts = std::exchange(sequences.starts, {0});
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      for (const std::int64_t step : kept(i, starts[i + 1] - starts[i])) {
        const auto from = all.begin() + (starts[i] + step) * sequences.input;
        inputs.insert(inputs.end(), from, from + sequences.input);
      }
      sequences.end_sequence();
    }
  });
}

}  // namespace

void subsample(StoredSequences& sequences, std::int64_t steps, std::uint64_t seed) {
  keep(sequences, [&](std::size_t i, std::int64_t length) {
    RandomStream stream(seed, stream_name({static_cast<std::uint64_t>(DataStream::subsample), i}));
    std::vector<std::int64_t> kept = permutation(length, stream);
    if (length > steps) kept.resize(static_cast<std::size_t>(steps));
    std::ranges::sort(kept);
    return kept;
  });
}

void keep_last(StoredSequences& sequences, std::int64_t steps) {
  keep(sequences, [&](std::size_t, std::int64_t length) {
    const std::int64_t first = std::max<std::int64_t>(0, length - steps);
    return std::views::iota(first, length);
  });
}

StoredDataset::StoredDataset(const DataShape& shape, std::shared_ptr<const StoredSequences> sequences,
                             std::vector<std::int64_t> chosen)
    : Dataset(shape), sequences_(std::move(sequences)), chosen_(std::move(chosen)) {}

std::int64_t StoredDataset::length(std::int64_t index) const {
  return sequences_->length(chosen_[static_cast<std::size_t>(index)]);
}

void StoredDataset::read(std::int64_t index, Batch& batch, std::int64_t row) const {
  const auto i = static_cast<std::size_t>(chosen_[static_cast<std::size_t>(index)]);
  const std::int64_t input = shape().input, output = shape().output;
  with_scalar(batch.x.dtype(), [&]<class T>() {
    sequences_->with_inputs([&](const auto& x) {
      std::transform(x.begin() + sequences_->starts[i] * input, x.begin() + sequences_->starts[i + 1] * input,
                     batch.x.values<T>().begin() + row * batch.x.size(1) * input,
                     [](auto v) { return static_cast<T>(v); });
    });
    if (output > 0) {
      std::transform(sequences_->y.begin() + static_cast<std::int64_t>(i) * output,
                     sequences_->y.begin() + static_cast<std::int64_t>(i + 1) * output,
                     batch.y.values<T>().begin() + row * output, [](double v) { return static_cast<T>(v); });
    }
  });
  if (shape().classes > 0) batch.classes[static_cast<std::size_t>(row)] = sequences_->classes[i];
}

Scaling input_scaling(const StoredSequences& sequences, std::span<const std::int64_t> chosen) {
  Moments moments(sequences.input);
  sequences.with_inputs([&](const auto& inputs) {
    for (std::int64_t index : chosen) {
      const auto* x = inputs.data() + sequences.starts[static_cast<std::size_t>(index)] * sequences.input;
      for (std::int64_t n = 0; n < sequences.length(index); ++n, x += sequences.input) {
        moments.add([&](std::size_t i) { return double{x[i]}; });
      }
    }
  });
  return moments.standard();
}

Scaling target_scaling(const StoredSequences& sequences, std::span<const std::int64_t> chosen) {
  const std::int64_t width = static_cast<std::int64_t>(sequences.y.size()) / sequences.size();
  Moments moments(width);
  for (std::int64_t index : chosen) {
    const double* y = sequences.y.data() + index * width;
    moments.add([&](std::size_t i) { return y[i]; });
  }
  return moments.standard();
}

}  // namespace lagtape
