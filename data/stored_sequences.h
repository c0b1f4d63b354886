#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lagtape/data/dataset.h"

namespace lagtape {

/// Sequences of varying lengths in memory, one after the other, with one target each.
struct StoredSequences {
  std::int64_t input = 1;        ///< numbers per step
  std::vector<float> x;          ///< [total steps, input]; empty if x64 holds the inputs
  std::vector<double> x64 = {};  ///< the same in f64
  /// [N + 1]: sequence i consists of steps starts[i]..starts[i + 1] - 1
  std::vector<std::int64_t> starts = {0};
  std::vector<std::int32_t> classes;  ///< [N]; empty for real targets
  std::vector<double> y;              ///< [N, output]; empty for classes

  std::int64_t size() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  std::int64_t length(std::int64_t index) const {
    return starts[static_cast<std::size_t>(index) + 1] - starts[static_cast<std::size_t>(index)];
  }
  std::int64_t longest() const;
  /// Ends a sequence: everything appended to x since the last call.
  void end_sequence() { starts.push_back((std::ssize(x) + std::ssize(x64)) / input); }
  /// Calls f with the vector that holds the inputs.
  template <class F>
  decltype(auto) with_inputs(F&& f) {
    return x64.empty() ? f(x) : f(x64);
  }
  template <class F>
  decltype(auto) with_inputs(F&& f) const {
    return x64.empty() ? f(x) : f(x64);
  }
};

/// Reduces every longer sequence to `steps` random steps, in order.
void subsample(StoredSequences& sequences, std::int64_t steps, std::uint64_t seed);

/// Keeps the last steps of every longer sequence.
void keep_last(StoredSequences& sequences, std::int64_t steps);

/// A selection of stored sequences, in a given order.
class StoredDataset final : public Dataset {
 public:
  StoredDataset(const DataShape& shape, std::shared_ptr<const StoredSequences> sequences,
                std::vector<std::int64_t> chosen);

  std::int64_t size() const override { return static_cast<std::int64_t>(chosen_.size()); }
  std::int64_t length(std::int64_t index) const override;
  void read(std::int64_t index, Batch& batch, std::int64_t row) const override;

 private:
  std::shared_ptr<const StoredSequences> sequences_;
  std::vector<std::int64_t> chosen_;
};

/// The scaling of inputs by their mean and standard deviation over all steps of the selected sequences.
Scaling input_scaling(const StoredSequences& sequences, std::span<const std::int64_t> chosen);
/// The same scaling for their real targets.
Scaling target_scaling(const StoredSequences& sequences, std::span<const std::int64_t> chosen);

}  // namespace lagtape
