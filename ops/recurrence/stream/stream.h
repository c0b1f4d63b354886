#pragma once

#include <memory>
#include <span>

#include "lagtape/core/normalization.h"
#include "lagtape/core/simd/level.h"
#include "lagtape/ops/recurrence/step/operand_ranges.h"
#include "lagtape/ops/recurrence/step/stack.h"

namespace lagtape {

/// A stack fed one step (or one block of steps) at a time, for B rows. It owns its windows; it can be copied,
/// saved, and restored; copies share weights and machine code. After construction it never allocates, locks, or
/// throws. It normalizes inputs and converts outputs back to the units of the data; between the two it gives
/// the same bits as SequenceOp. T is the scalar of the stack's weights.
template <class T>
class Stream {
 public:
  /// Weights as for SequenceOp::evaluate. Draws hold their evaluation values. The read-out, if any, is applied
  /// at every step, regardless of `stack.at` (for `mean`, to the mean so far). Throws InputError if the weights
  /// do not fit, and if the rows' states would exceed any memory. With a table [V, input], inputs are row
  /// numbers of the table, one per step, and input_width is 1; a number that is not a row's gives NaN. `start`
  /// has the states before the first step; empty: zeros.
  Stream(const StackDefinition& stack, std::span<const Tensor> weights, std::int64_t rows = 1,
         SimdLevel level = best_level(), const Tensor& table = {}, const Normalization& normalization = {},
         const Window& start = {});
  /// The same for an int8 stack whose product operands have these ranges.
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
  /// Whether all states are finite. Non-finite inputs pass into the states of most cells. NaN stays there until
  /// `reset` or `restore`; after an infinity, some cells recover (those with bounded states) and others do not.
  bool is_finite() const;

  /// One step: input [rows, input], output [rows, output], both row-major and dense. If the calling thread
  /// holds its own FlushSubnormals, each step avoids the two mode changes.
  void step(const T* input, T* output) noexcept;
  /// `count` steps: input [count, rows, input], output [count, rows, output].
  void block(const T* input, T* output, std::int64_t count) noexcept;

  /// Feeds `count` steps like `block`, and returns, for each product operand supported in int8
  /// (ops/kernels/int8.h), its largest magnitude (NaN counts as largest); -1 for other weight stacks.
  /// Allocates.
  OperandRanges operand_ranges(const T* input, std::int64_t count);

  /// Resets the states to those before the first step.
  void reset() noexcept;
  /// Return the current states, and set saved ones. If the read-out reads the mean, the sum so far follows the
  /// states: [B, width] of the top layer's output. `restore` throws InputError if shapes differ, and for steps
  /// below 0 or above 2^62.
  Window window() const;
  void restore(const Window& window, std::int64_t steps);
  /// Writes the current states into a window that `window` returned before. Like `restore`, it does not
  /// allocate. Throws InputError if shapes differ.
  void save(Window& window) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lagtape
