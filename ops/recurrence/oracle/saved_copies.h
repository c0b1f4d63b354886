#pragma once

#include <vector>

#include "lagtape/core/tape.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape::recurrence {

/// The values of a step as the backward pass reads them when saved values are rounded to bf16: rounded copies;
/// cheap values, recomputed from these; and all others unchanged. Only the choice of copied values comes from
/// the engine.
class SavedCopies {
 public:
  explicit SavedCopies(const StepProgram& program);

  /// Value `id` of the current step, in order.
  void take(int id, const Tensor& value);
  /// An operand as the backward pass reads it; an empty tensor for -1.
  const Tensor& at(int id) const { return id < 0 ? none_ : seen_[static_cast<std::size_t>(id)]; }
  /// Value `id` as the backward pass reads it; its operands were read before.
  Tensor seen(int id, const Tensor& value) const;
  /// Whether the gradient of a vector or narrow matrix sums rounded adjoints. The engine decides this.
  bool sums_rounded(int weight) const { return rounded_sums_[static_cast<std::size_t>(weight)]; }

 private:
  const StepProgram& program_;
  std::vector<bool> rounded_;       // by value: whether it has a rounded copy
  std::vector<bool> rounded_sums_;  // by weight
  std::vector<bool> kept_;          // by value: whether it is a state or the output
  std::vector<Tensor> seen_;        // by value
  Tensor none_;
};

}  // namespace lagtape::recurrence
