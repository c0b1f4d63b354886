#pragma once

#include "lagtape/ops/recurrence/run/pass.h"

namespace lagtape::recurrence {

/// A forward pass over a batch that holds what its plan keeps, of all slices at a time, until its backward half
/// is asked for: for gradients that come from outside the stack. A tape that has the loss does without. What
/// the pass was made of must outlive it.
class HeldPass {
 public:
  virtual ~HeldPass() = default;

  /// Runs the backward half. What is held serves once and is let go then; for a
  /// second time the pass runs forward again.
  virtual void backward(const BackwardPass& gradients) = 0;
};

}  // namespace lagtape::recurrence
