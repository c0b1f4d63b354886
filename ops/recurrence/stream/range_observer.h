#pragma once

#include <deque>

#include "lagtape/ops/kernels/int8.h"
#include "lagtape/ops/recurrence/run/layer_runner.h"
#include "lagtape/ops/recurrence/step/operand_ranges.h"

namespace lagtape::recurrence {

/// While it exists, observes the operands of the products that runners compute.
template <class T>
class RangeObserver {
 public:
  RangeObserver(std::deque<LayerRunner<T>>& layers, std::size_t count) : layers_(layers) {
    for (std::size_t l = 0; l < count; ++l) ranges_.emplace_back(layers[l].schedule().stacks.size(), 0.0F);
    for (std::size_t l = 0; l < count; ++l) layers[l].observe(&ranges_[l]);
  }
  ~RangeObserver() {
    for (auto& layer : layers_) layer.observe(nullptr);
  }
  RangeObserver(const RangeObserver&) = delete;
  RangeObserver& operator=(const RangeObserver&) = delete;

  /// The largest magnitudes so far (NaN counts as largest); -1 for weight stacks not supported in int8.
  OperandRanges ranges() const {
    OperandRanges result = ranges_;
    for (std::size_t l = 0; l < result.size(); ++l)
      for (std::size_t s = 0; s < result[l].size(); ++s)
        if (const WeightStack& stack = layers_[l].schedule().stacks[s];
            stack.transposed || !takes_int8(stack.k, stack.columns))
          result[l][s] = -1;
    return result;
  }

 private:
  std::deque<LayerRunner<T>>& layers_;
  OperandRanges ranges_;
};

}  // namespace lagtape::recurrence
