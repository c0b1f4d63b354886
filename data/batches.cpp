#include "lagtape/data/batches.h"

#include <algorithm>
#include <functional>
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

TrainingOrder::TrainingOrder(const Dataset& dataset, std::int64_t batch, std::uint64_t seed)
    : dataset_(dataset),
      size_(dataset.size()),
      batch_(batch),
      steps_per_epoch_(Dataset::kUnlimited),
      seed_(seed) {
  if (batch < 1) throw InputError(text_of("[data] a batch has at least 1 sequence. Got ", batch, "."));
  if (size_ < 1) throw InputError("[data] the training set has no sequences.");
  if (size_ != Dataset::kUnlimited) steps_per_epoch_ = (size_ - 1) / batch + 1;
}

std::vector<std::int64_t> TrainingOrder::indices(std::int64_t epoch, std::int64_t step) {
  if (epoch < 0 || step < 0 || step >= steps_per_epoch_) {
    throw InputError(text_of("[data] an epoch has steps 0..", steps_per_epoch_ - 1, ". Got epoch ", epoch,
                             ", step ", step, "."));
  }
  if (size_ == Dataset::kUnlimited) return consecutive(step * batch_, batch_);
  if (epoch != ordered_epoch_) {
    RandomStream stream(seed_, stream_name({static_cast<std::uint64_t>(DataStream::order),
                                            static_cast<std::uint64_t>(epoch)}));
    order_ = permutation(size_, stream);
    ordered_epoch_ = epoch;
  }
  const auto first = order_.begin() + step * batch_;
  std::vector<std::int64_t> batch(first, first + std::min(batch_, size_ - step * batch_));
  std::ranges::stable_sort(batch, std::greater{}, [this](std::int64_t i) { return dataset_.length(i); });
  return batch;
}

std::vector<std::int64_t> indices_in_order(const Dataset& dataset, std::int64_t first, std::int64_t batch) {
  return consecutive(first, std::clamp<std::int64_t>(dataset.size() - first, 0, batch));
}

}  // namespace lagtape
