#pragma once

#include <memory>
#include <span>

#include "lagtape/core/normalization.h"
#include "lagtape/core/simd/level.h"
#include "lagtape/ops/recurrence/step/operand_ranges.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

/// A stack fed one step (or one block of steps) at a time, for B rows. It owns its windows; it can be copied,
/// saved and restored; copies share weights and machine code. After construction it allocates, locks and
/// throws nothing. It normalizes inputs and brings outputs back to the units of the data; between them it
/// gives the same bits as SequenceOp. T is the scalar of the stack's weights.
template <class T>
class Stream {
 public:
  /// Weights as for SequenceOp::evaluate. Draws hold their evaluation values. The read-out, if any, is
  /// applied at every step, whatever `stack.at` says (for `mean`, to the mean so far). Throws InputError when
  /// weights do not fit, and for rows whose states no memory can hold. With a table [V, input], inputs are
  /// the numbers of its rows, one a step, input_width 1; a number that names no row gives NaN. `start` has the
  /// states before the first step; empty: zeros.
  Stream(const StackDefinition& stack, std::span<const Tensor> weights, std::int64_t rows = 1,
         SimdLevel level = best_level(), const Tensor& table = {}, const Normalization& normalization = {},
         const Window& start = {});
  /// The same for a stack in int8, whose products' operands have these ranges.
  Stream(const StackDefinition& stack, std::span<const Tensor> weights, std::int64_t rows, SimdLevel level,
         const Tensor& table, const Normalization& normalization, const Window& start,
         const OperandRanges& ranges);
  Stream(const Stream& other);
  Stream& operator=(const Stream& other);
  ~Stream();

  std::int64_t rows() const;
  std::int64_t input_width() const;
  std::int64_t output_width() const;
  std::int64_t steps() const;  ///< steps fed so far
  /// Whether all states are finite. Inputs that are not finite pass into the states of most cells, and what
  /// is NaN there stays so until `reset` or `restore`; after an infinity some cells recover (those whose
  /// states are bounded), others do not.
  bool is_finite() const;

  /// One step: input [rows, input], output [rows, output], both row-major and dense. A thread that holds its own
  /// FlushSubnormals spares every step the two changes of mode.
  void step(const T* input, T* output) noexcept;
  /// `count` steps: input [count, rows, input], output [count, rows, output].
  void block(const T* input, T* output, std::int64_t count) noexcept;

  /// Feeds `count` steps like `block`, and returns the largest magnitude that each operand of a product had that
  /// int8 takes (ops/kernels/int8.h), NaN above all; for other weight stacks -1. Allocates.
  OperandRanges operand_ranges(const T* input, std::int64_t count);

  /// Sets the states to those before the first step.
  void reset() noexcept;
  /// Return the present states, and set saved ones. Where the read-out reads the mean, the sum so far comes
  /// after the states: [B, width] of the top layer's output. `restore` throws InputError when shapes differ,
  /// and for steps below 0 or above 2^62.
  Window window() const;
  void restore(const Window& window, std::int64_t steps);
  /// Writes the present states into a window that `window` returned before. Like `restore`, it allocates
  /// nothing. Throws InputError when shapes differ.
  void save(Window& window) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape
