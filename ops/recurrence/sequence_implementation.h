#pragma once

#include <memory>

#include "lagtape/ops/recurrence/run/batch_runner.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// The parts of a SequenceOp. They have a header of their own because the op's gradients are in a source of
/// their own, which a program that only runs models is built without.
struct SequenceOp::Implementation {
  StackDefinition stack;
  Dtype dtype;
  SequenceSettings settings;
  std::unique_ptr<recurrence::BatchRunner> runner;
};

}  // namespace lagtape
