#include "lagtape/data/joined.h"

#include <algorithm>

#include "lagtape/core/error.h"

namespace lagtape {

namespace {

DataShape shape_of(const std::vector<std::shared_ptr<const Dataset>>& parts) {
  DataShape shape = parts.front()->shape();
  for (const auto& part : parts) shape.length = std::max(shape.length, part->shape().length);
  return shape;
}

class JoinedDataset final : public Dataset {
 public:
  explicit JoinedDataset(const std::vector<std::shared_ptr<const Dataset>>& parts)
      : Dataset(shape_of(parts)), parts_(parts) {
    for (const auto& part : parts_) {
      if (part->size() == kUnlimited) throw Error("[data] an unlimited set cannot be joined with others.");
      starts_.push_back(starts_.back() + part->size());
    }
  }

  std::int64_t size() const override { return starts_.back(); }

  std::int64_t length(std::int64_t index) const override {
    const Place place = place_of(index);
    return place.part.length(place.index);
  }

  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    const Place place = place_of(index);
    place.part.read(place.index, batch, row);
  }
  std::span<const NaiveErrors> naive_errors(std::int64_t index) const override {
    const Place place = place_of(index);
    return place.part.naive_errors(place.index);
  }
  const Normalization* normalization(std::int64_t index) const override {
    const Place place = place_of(index);
    return place.part.normalization(place.index);
  }

 private:
  struct Place {
    const Dataset& part;
    std::int64_t index;
  };

  Place place_of(std::int64_t index) const {
    const auto part = std::upper_bound(starts_.begin(), starts_.end(), index) - starts_.begin() - 1;
    return {*parts_[static_cast<std::size_t>(part)], index - starts_[static_cast<std::size_t>(part)]};
  }

  std::vector<std::shared_ptr<const Dataset>> parts_;
  std::vector<std::int64_t> starts_ = {0};  ///< index of each part's first sequence; at the end the size
};

class FirstSequences final : public Dataset {
 public:
  FirstSequences(std::shared_ptr<const Dataset> whole, std::int64_t count)
      : Dataset(whole->shape()), whole_(std::move(whole)), count_(std::min(count, whole_->size())) {}

  std::int64_t size() const override { return count_; }
  std::int64_t length(std::int64_t index) const override { return whole_->length(index); }
  void read(std::int64_t index, Batch& batch, std::int64_t row) const override {
    whole_->read(index, batch, row);
  }
  std::span<const NaiveErrors> naive_errors(std::int64_t index) const override {
    return whole_->naive_errors(index);
  }
  const Normalization* normalization(std::int64_t index) const override {
    return whole_->normalization(index);
  }

 private:
  std::shared_ptr<const Dataset> whole_;
  std::int64_t count_;
};

}  // namespace

std::shared_ptr<const Dataset> first_sequences(std::shared_ptr<const Dataset> whole, std::int64_t count) {
  if (whole->size() == Dataset::kUnlimited) throw Error("[data] an unlimited set has no first part.");
  return std::make_shared<FirstSequences>(std::move(whole), count);
}

std::shared_ptr<const Dataset> joined(const std::vector<std::shared_ptr<const Dataset>>& parts) {
  return std::make_shared<JoinedDataset>(parts);
}

}  // namespace lagtape
