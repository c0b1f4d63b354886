#pragma once

#include <memory>

#include "lagtape/ops/recurrence/run/batch_runner.h"
#include "lagtape/ops/recurrence/sequence.h"

namespace lagtape {

/// The parts of a SequenceOp, shared by its two sources.
struct SequenceOp::Implementation {
  StackDefinition stack;
  Dtype dtype;
  SequenceSettings settings;
  std::unique_ptr<recurrence::BatchRunner> runner;
};

}  // namespace lagtape
