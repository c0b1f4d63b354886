#include "lagtape/data/batches.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "lagtape/core/error.h"
#include "lagtape/data/streams.h"

namespace lagtape {

namespace {

std::vector<std::int64_t> consecutive(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), first);
  return indices;
}

}  // namespace

TrainingOrder::TrainingOrder(const Dataset& dataset, BatchOptions options, std::uint64_t seed)
    : dataset_(dataset),
      options_(std::move(options)),
      size_(dataset.size()),
      batch_(options_.batch),
      steps_per_epoch_(Dataset::kUnlimited),
      seed_(seed) {
  if (batch_ < 1)
    throw InputError({.op = "data"}, Rule::out_of_range, "a batch has at least 1 sequence", text_of(batch_));
  if (size_ < 1) throw InputError({.op = "data"}, Rule::missing, "the training set has no sequences.");
  if (size_ != Dataset::kUnlimited) steps_per_epoch_ = (size_ - 1) / batch_ + 1;
}

void TrainingOrder::order_epoch(std::int64_t epoch) {
  RandomStream stream(
      seed_, stream_name({static_cast<std::uint64_t>(DataStream::order), static_cast<std::uint64_t>(epoch)}));
  order_ = permutation(size_, stream);
  if (!options_.classes.empty()) draw_classes(stream);
  if (options_.length_buckets) sort_in_buckets(stream);
  ordered_epoch_ = epoch;
}

/// Takes the classes in turn, and cycles through each one's sequences in the order of the permutation.
void TrainingOrder::draw_classes(RandomStream& stream) {
  std::map<std::int32_t, std::vector<std::int64_t>> members;
  for (const std::int64_t index : order_)
    members[options_.classes[static_cast<std::size_t>(index)]].push_back(index);
  std::vector<std::int64_t> drawn;
  for (std::size_t round = 0; drawn.size() < order_.size(); ++round) {
    for (const auto& [target, indices] : members) {
      if (drawn.size() == order_.size()) break;
      drawn.push_back(indices[round % indices.size()]);
    }
  }
  const std::vector<std::int64_t> places = permutation(size_, stream);
  for (std::size_t i = 0; i < drawn.size(); ++i) order_[i] = drawn[static_cast<std::size_t>(places[i])];
}

/// Sorts parts of the order by length, and then shuffles the batches.
void TrainingOrder::sort_in_buckets(RandomStream& stream) {
  constexpr std::int64_t kBatches = 50;
  const auto length = [this](std::int64_t i) { return dataset_.length(i); };
  for (std::int64_t first = 0; first < size_; first += kBatches * batch_) {
    const auto begin = order_.begin() + first;
    std::ranges::stable_sort(begin, begin + std::min(kBatches * batch_, size_ - first), {}, length);
  }
  const std::int64_t full = size_ / batch_;  // a smaller batch stays the last
  const std::vector<std::int64_t> places = permutation(full, stream);
  std::vector<std::int64_t> mixed(order_);
  for (std::int64_t i = 0; i < full; ++i)
    std::copy_n(order_.begin() + places[static_cast<std::size_t>(i)] * batch_, batch_,
                mixed.begin() + i * batch_);
  order_ = std::move(mixed);
}

std::vector<std::int64_t> TrainingOrder::indices(std::int64_t epoch, std::int64_t step) {
  if (epoch < 0 || step < 0 || step >= steps_per_epoch_) {
    throw InputError({.op = "data"}, Rule::out_of_range,
                     text_of("an epoch has steps 0..", steps_per_epoch_ - 1),
                     text_of("epoch ", epoch, ", step ", step));
  }
  if (size_ == Dataset::kUnlimited) return consecutive(step * batch_, batch_);
  if (epoch != ordered_epoch_) order_epoch(epoch);
  const auto first = order_.begin() + step * batch_;
  std::vector<std::int64_t> batch(first, first + std::min(batch_, size_ - step * batch_));
  std::ranges::stable_sort(batch, std::greater{}, [this](std::int64_t i) { return dataset_.length(i); });
  return batch;
}

std::vector<std::int32_t> classes_of(const Dataset& dataset, ThreadPool& pool) {
  constexpr std::int64_t kAtOnce = 256;
  const DataShape& shape = dataset.shape();
  if (shape.classes == 0 || shape.every_step || dataset.size() == Dataset::kUnlimited)
    throw InputError({.op = "data"}, Rule::not_supported,
                     "only sequences with one class each can be drawn by their classes.");
  std::vector<std::int32_t> classes;
  for (std::int64_t first = 0; first < dataset.size(); first += kAtOnce) {
    const Batch batch = gather(dataset, indices_in_order(dataset, first, kAtOnce), Dtype::f32, pool);
    classes.insert(classes.end(), batch.classes.begin(), batch.classes.end());
  }
  return classes;
}

std::vector<std::int64_t> indices_in_order(const Dataset& dataset, std::int64_t first, std::int64_t batch) {
  return consecutive(first, std::clamp<std::int64_t>(dataset.size() - first, 0, batch));
}

}  // namespace lagtape
