#pragma once

#include <span>
#include <vector>

#include "lagtape/core/tape.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

// A stack run step by step, instruction by instruction, with the ordinary operations of the outer tape: slow,
// large and plain. It knows nothing of adjoint programs, schedules, plans and streams, which are all tested
// against it.
//
// Arguments and results are those of SequenceOp::loss and SequenceOp::outputs (x is read from the Var, not
// from the batch); `final_window` receives one Var a state, shaped as in Window. Throws InputError when the
// numbers of weights or windows do not fit, for a loss without targets of its shape, and for a state
// that cannot be on the grid.
//
// The fine print of the semantics:
// - A row ends with its own last step: its final windows are those after it, and its outputs beyond it are
//   zeros. `last_padded_step` treats every row as T long.
// - A read-out that reads once sees step 0: in its step index and in its draws.
// - A real lag tau is clamped to [1, L]; with k = floor(tau) and f = tau - k (for tau = L: k = L - 1, f = 1)
//   it reads (1 - f) h[n-k] + f h[n-k-1]. Its gradient is that of this formula for 1 <= tau <= L, else zero.
// - A state on the grid, and so its window, is in f64. The derivative of rounding counts as one.

Var unroll_loss(Tape& tape, const StackDefinition& stack, std::span<const Var> weights, Var x,
                const SequenceBatch& batch, std::span<const Var> initial = {},
                std::vector<Var>* final_window = nullptr);

Var unroll_outputs(Tape& tape, const StackDefinition& stack, std::span<const Var> weights, Var x,
                   const SequenceBatch& batch, std::span<const Var> initial = {},
                   std::vector<Var>* final_window = nullptr);

/// All values of an unrolled stack, for analysis: handles to nodes of its tape. The states after a step are
/// then separate nodes that require gradients. Later steps, lags, and the step's output see them; the step's
/// other states do not. The gradient that `backward` leaves in a node is the derivative with respect to that
/// state, with the step's other states held fixed.
struct UnrollTrace {
  struct Step {
    std::vector<Var> values;  ///< one per program value: [B, shape], or [1, shape] where rows cannot differ
    std::vector<Var> states;  ///< after the step: [B, shape]
    Var output;               ///< [B, width]
  };
  std::vector<std::vector<Step>> layers;  ///< [layer][step], without the read-out
};

/// unroll_outputs, with all values of the stack.
Var unroll_traced(Tape& tape, const StackDefinition& stack, std::span<const Var> weights, Var x,
                  const SequenceBatch& batch, std::span<const Var> initial, std::vector<Var>* final_window,
                  UnrollTrace& trace);

}  // namespace lagtape
