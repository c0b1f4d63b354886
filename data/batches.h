#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/core/random.h"
#include "lagtape/data/dataset.h"

namespace lagtape {

/// How an epoch is divided into batches.
struct BatchOptions {
  std::int64_t batch = 1;
  bool length_buckets = false;  ///< sequences of similar lengths share a batch
  /// The class of each sequence, for epochs that draw all classes equally often; empty: each sequence once.
  std::vector<std::int32_t> classes = {};
};

/// The sequences that each training step uses: a function of only (seed, epoch, step), so a run can resume
/// anywhere. The order of an epoch is a permutation drawn from (seed, epoch). Its last batch may be smaller.
/// Within a batch the longest sequences come first, so rows that are computed together end at nearly the same
/// step. A fresh (unlimited) set has one endless epoch: step k uses the sequences k*batch .. k*batch + batch -
/// 1.
class TrainingOrder {
 public:
  /// The set must outlive it. Throws InputError if batch < 1 or the set is empty.
  TrainingOrder(const Dataset& dataset, std::int64_t batch, std::uint64_t seed)
      : TrainingOrder(dataset, BatchOptions{.batch = batch}, seed) {}
  TrainingOrder(const Dataset& dataset, BatchOptions options, std::uint64_t seed);

  /// Number of batches in an epoch; Dataset::kUnlimited for a fresh set.
  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  /// Indices of batch `step` (0..steps_per_epoch()-1) in an epoch (0, 1, ...).
  std::vector<std::int64_t> indices(std::int64_t epoch, std::int64_t step);

 private:
  void order_epoch(std::int64_t epoch);
  void draw_classes(RandomStream& stream);
  void sort_in_buckets(RandomStream& stream);

  const Dataset& dataset_;
  BatchOptions options_;
  std::int64_t size_, batch_, steps_per_epoch_;
  std::uint64_t seed_;
  std::int64_t ordered_epoch_ = -1;
  std::vector<std::int64_t> order_;
};

/// The class of each sequence in a set with one target per sequence. Throws InputError for other sets.
std::vector<std::int32_t> classes_of(const Dataset& dataset, ThreadPool& pool);

/// The next batch of a whole split in its own order, for evaluation: the indices first .. first + batch - 1,
/// but none above size - 1.
std::vector<std::int64_t> indices_in_order(const Dataset& dataset, std::int64_t first, std::int64_t batch);

}  // namespace lagtape
