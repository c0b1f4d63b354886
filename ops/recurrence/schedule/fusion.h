#pragma once

#include <vector>

#include "lagtape/ops/recurrence/schedule/value_operands.h"

namespace lagtape::recurrence {

/// The ops of one stage, in order: products of one stack, element-wise work, which can be compiled, or work
/// across elements (sums, broadcasts, and the like).
struct StageOps {
  enum class Kind : std::uint8_t { products, elements, across };
  Kind kind = Kind::products;
  std::int64_t width = 0;  ///< padded width of element-wise work; the widest, if several are combined
  Ops ops;
};

/// Groups `list`, the ops of one phase of `layer`: alternately all products that are ready and all other work
/// that is ready. Products of one operand are stacked. Work across elements is scheduled as soon as it is
/// ready, with the scalars in between; the rest is grouped by width, widest first. In a phase that runs for
/// many steps at once, rows no wider than a tile stay together: otherwise a value passed between two stages
/// would leave the cache. A stage with very many ops is split.
std::vector<StageOps> fuse(const LayerOps& layer, const ValueOperands& operands, const Ops& list,
                           bool by_step);

/// Moves work on values that the phase starts with (weights, inputs, states) to the stage that first reads its
/// result, if that stage is element-wise with the same width: then the result need not pass through memory.
void move_to_readers(const LayerOps& layer, std::vector<StageOps>& stages);

}  // namespace lagtape::recurrence
