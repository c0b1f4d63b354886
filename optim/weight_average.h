#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/parameter.h"

namespace lagtape {

/// The mean of the weights after each of n updates (averaged SGD, Polyak and Juditsky 1992):
///     mean_n = mean_(n-1) + (w_n - mean_(n-1)) / n
/// in f64 whatever the parameters' precision, element by element, so its bits depend only on the values.
/// Parameters that are not trained have no mean: the running statistics of batch_norm are used as they are.
class WeightAverage {
 public:
  /// A mean over no updates yet.
  explicit WeightAverage(const Parameters& parameters);

  /// Adds the weights after one more update. Throws InputError if the parameters differ from those at
  /// construction in name or shape.
  void add(const Parameters& parameters);
  /// The number of updates averaged so far.
  std::int64_t updates() const { return updates_; }
  /// Sets trained parameters to their means, rounded to their precision. Throws as `add` does, and if there has
  /// been no update.
  void assign_to(Parameters& parameters) const;

  /// The tensors "average.updates" (f64, a scalar) and "average.PARAMETER" (f64), sharing storage.
  std::vector<NamedTensor> state() const;
  /// Copies the same tensors from a file. On error, throws InputError as TensorReader::take does, and changes
  /// nothing.
  void load_state(TensorReader& reader);

 private:
  void require_same(const Parameters& parameters) const;

  std::vector<NamedTensor> means_;  // by the parameters' names
  std::int64_t updates_ = 0;
};

}  // namespace lagtape
