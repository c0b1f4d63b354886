#pragma once

#include <cstdint>
#include <string_view>

#include "lagtape/core/simd/level.h"

namespace lagtape {

class Ranks;

/// What the forward pass keeps for the backward pass. `full`: all saved values; `states`: the states, from
/// which the rest is recomputed; `reversible`: the last states, from which the steps are undone, backward in
/// time; `checkpoint`: windows at some steps, from which the forward pass is rerun. `automatic`: the fastest of
/// them that fits the budget.
enum class MemoryPlan : std::uint8_t { automatic, full, states, reversible, checkpoint };
std::string_view name_of(MemoryPlan plan);  ///< "auto", "full", "states", "reversible", "checkpoint"

/// w[m, n] += d[rows, m]^T x[rows, n]; consecutive rows of w, d, and x are `ldw`, `ldd`, and `ldx` numbers
/// apart.
struct LargeProduct {
  float* w;
  std::int64_t ldw;
  const float* d;
  std::int64_t ldd;
  const float* x;
  std::int64_t ldx;
  std::int64_t rows, m, n;
};
using LargeProductFunction = void (*)(const LargeProduct& product);

/// How a sequence op runs. No setting except `large_product` changes a result.
struct SequenceSettings {
  MemoryPlan plan = MemoryPlan::automatic;
  /// Limit on all memory of the op in bytes; 0: half the memory of the machine or cgroup.
  std::int64_t budget = 0;
  /// Steps per chunk, a multiple of the run; 0: chosen by the planner.
  std::int64_t chunk = 0;
  /// Steps between checkpoints, a multiple of the chunk; 0: chosen by the planner.
  std::int64_t checkpoint_interval = 0;
  /// The limit on forward reruns of a step; 0: as few as the budget allows.
  int levels = 0;
  SimdLevel level = best_level();
  /// Whether element-wise work is compiled to machine code where possible, which is faster and gives the same
  /// bits.
  bool compile_stages = true;
  /// Processes that share the slices of each batch (not those of held_sequence.h); null: only this one. They
  /// must outlive the op.
  Ranks* ranks = nullptr;
  /// The library that computes the weight gradients of matrices of at least 512 x 512, in f32, on the calling
  /// thread. `onednn_product` (optim/onednn_product.h), which the tool uses for training, is faster there than
  /// the kernels and rounds differently. Null: the kernels.
  LargeProductFunction large_product = nullptr;
};

/// The cost of a plan for a batch of B sequences of T steps.
struct PlanCost {
  MemoryPlan plan = MemoryPlan::automatic;
  std::int64_t bytes = 0;                ///< the op's peak memory, with the requested threads
  double extra_flops = 0;                ///< products beyond one forward and one backward pass of the batch
  std::int64_t chunk = 0;                ///< steps
  std::int64_t checkpoint_interval = 0;  ///< steps between checkpoints; 0: none
  std::int64_t slots = 0;                ///< checkpoints kept at a time
  int levels = 0;                        ///< largest number of forward reruns of a step
};

}  // namespace lagtape
