#pragma once

#include "lagtape/ops/recurrence/run/batch_request.h"

namespace lagtape::recurrence {

/// A batch that ran forward and holds what its plan keeps, of all slices at a time, until its backward half is
/// asked for: for gradients that come from outside the stack. A tape that has the loss does without. What it was
/// made of must outlive it.
class HeldBatch {
 public:
  virtual ~HeldBatch() = default;

  /// Runs the backward half. What is held serves once and is let go then; for a
  /// second time the batch runs forward again.
  virtual void backward(const BackwardRequest& gradients) = 0;
};

}  // namespace lagtape::recurrence
