#pragma once

#include <span>
#include <vector>

#include "lagtape/ops/recurrence/derive/tangent.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

/// A stack of tangent programs. If the stack's read-out gives y [q], this one gives [y, d_1 y, .., d_P y].
class TangentStack {
 public:
  /// The weights are the layers', in order, then the read-out's. `changes[weight][direction]`.
  TangentStack(const StackDefinition& stack, const std::vector<std::vector<bool>>& changes);

  const StackDefinition& stack() const { return stack_; }
  /// The weights of its programs, from the stack's weights and their derivatives `changes[direction][weight]`.
  std::vector<Tensor> weights(std::span<const Tensor> weights,
                              std::span<const std::vector<Tensor>> changes) const;

 private:
  StackDefinition stack_;
  std::vector<TangentProgram> programs_;
  std::vector<std::size_t> counts_;  ///< number of weights of each program of the stack
};

}  // namespace lagtape
