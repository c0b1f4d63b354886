#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/ops/recurrence/schedule/layer_schedule.h"

namespace lagtape::recurrence {

/// A layer's weights for the interpreter: packed stacks, and vectors repeated for the rows of a tile. Shared by
/// all slices.
template <class T>
class LayerWeights {
 public:
  LayerWeights(const StepProgram& program, const LayerSchedule& schedule, const Kernels<T>& kernels);

  /// Repacks from the step's weights, in the order of program.weights. `ranges`: those of the layer's operands,
  /// for int8 products.
  void load(std::span<const Tensor> weights, std::span<const float> ranges = {});

  const T* stack(int i) const { return stacks_[i]; }
  /// Vector number i: weight i or, past the last weight, an entry of the schedule's columns.
  const T* vector(int i) const { return vectors_[i]; }
  static std::int64_t bytes(const StepProgram& program, const LayerSchedule& schedule);

 private:
  const StepProgram& program_;
  const LayerSchedule& schedule_;
  const Kernels<T>& kernels_;
  Tensor storage_;
  std::vector<T*> stacks_;
  std::vector<T*> vectors_;  ///< one per weight, null for matrices; then the columns
};

extern template class LayerWeights<float>;
extern template class LayerWeights<double>;

}  // namespace lagtape::recurrence
