#pragma once

#include "lagtape/ops/recurrence/run/batch_request.h"

namespace lagtape::recurrence {

/// A batch that ran forward and holds its plan's values, for all slices, until its backward half is requested: for
/// gradients from outside the stack. A tape that has the loss does not need it. Its parts must outlive it.
class HeldBatch {
 public:
  virtual ~HeldBatch() = default;

  /// Runs the backward half, which frees the held values; a second call runs the batch forward again first.
  virtual void backward(const BackwardRequest& gradients) = 0;
};

}  // namespace lagtape::recurrence
