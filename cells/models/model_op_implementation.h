#pragma once

#include <optional>

#include "lagtape/cells/models/model_op.h"

namespace lagtape {

// Internal: a detail of model_op.cpp and chain_loss.cpp.

/// What a ModelOp is made of. Its own header because the loss is in a source of its own.
struct ModelOp::Implementation {
  ChainOp training;
  std::optional<ChainOp> evaluation;  ///< where it is another chain

  ChainOp& in_evaluation() { return evaluation ? *evaluation : training; }
};

}  // namespace lagtape
