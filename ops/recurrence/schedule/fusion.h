#pragma once

#include <vector>

#include "lagtape/ops/recurrence/schedule/value_operands.h"

namespace lagtape::recurrence {

/// The ops of one stage, in order: products of one stack, work on each element by itself, which can be
/// compiled, or work across elements (sums, broadcasts and the like).
struct StageOps {
  enum class Kind : std::uint8_t { products, elements, across };
  Kind kind = Kind::products;
  std::int64_t width = 0;  ///< padded width of work on elements; the widest, where several are together
  Ops ops;
};

/// Groups `list`, the ops of one phase of `layer`: in turn all products that are ready, and all other work
/// that is ready. Products of one operand are stacked. Work across elements comes as soon as it is ready,
/// with the scalars between, the rest by its width, the widest first. In a phase that runs for many steps at
/// once, rows no wider than a tile stay together: there a value between two stages would leave the cache.
/// A stage of very many ops is followed by another.
std::vector<StageOps> fuse(const LayerOps& layer, const ValueOperands& operands, const Ops& list,
                           bool by_step);

/// Moves work on values that the phase finds (weights, inputs, states) to the stage that reads its result
/// first, where that is work on elements of the same width: then the result need not pass through memory.
void move_to_readers(const LayerOps& layer, std::vector<StageOps>& stages);

}  // namespace lagtape::recurrence
