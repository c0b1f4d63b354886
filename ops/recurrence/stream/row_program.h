#pragma once

// A step of a stack for a single row, as its emitter reads it.  With one row, a step is so little work that the
// time between stages dominates: calls, products that pass through memory on their way to element-wise work,
// chains of sums with nothing to overlap. So a step becomes a list of passes over the vectors of a row. A pass
// sums the products of one vector in registers, does the element-wise work on them, and continues with the
// next: the processor can compute the sums of the next vector while a tanh waits for its division. Weights are
// packed again, in order of use.  Even and odd steps have separate code. States that are read only one step
// back, and states on the grid, swap places between them, so their addresses are constants in the code. Each
// processes the vectors in its own order, to find in the cache what the previous step used last. Long sums run
// forward in even steps and backward in odd ones. Other passes process the vectors upward, except the first
// few: a read-out adds the elements of a row in order, as soon as they are available, while the sums of later
// vectors are computed.
//
// A step of a stack for a single row, as its emitter reads it.  With one row, a step is so little work that the
// time between stages dominates: calls, products that pass through memory on their way to element-wise work,
// chains of sums with nothing to overlap. So a step becomes a list of passes over the vectors of a row. A pass
// sums the products of one vector in registers, does the element-wise work on them, and continues with the
// next: the processor can compute the sums of the next vector while a tanh waits for its division. Weights are
// packed again, in order of use.  Even and odd steps have separate code. States that are read only one step
// back, and states on the grid, swap places between them, so their addresses are constants in the code. Each
// processes the vectors in its own order, to find in the cache what the previous step used last. Long sums run
// forward in even steps and backward in odd ones. Other passes process the vectors upward, except the first
// few: a read-out adds the elements of a row in order, as soon as they are available, while the sums of later
// vectors are computed.
//
// A step of a stack for a single row, as its emitter reads it.  With one row, a step is so little work that the
// time between stages dominates: calls, products that pass through memory on their way to element-wise work,
// chains of sums with nothing to overlap. So a step becomes a list of passes over the vectors of a row. A pass
// sums the products of one vector in registers, does the element-wise work on them, and continues with the
// next: the processor can compute the sums of the next vector while a tanh waits for its division. Weights are
// packed again, in order of use.  Even and odd steps have separate code. States that are read only one step
// back, and states on the grid, swap places between them, so their addresses are constants in the code. Each
// processes the vectors in its own order, to find in the cache what the previous step used last. Long sums run
// forward in even steps and backward in odd ones. Other passes process the vectors upward, except the first
// few: a read-out adds the elements of a row in order, as soon as they are available, while the sums of later
// vectors are computed.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/ops/recurrence/jit/vector_program.h"
#include "lagtape/ops/recurrence/run/compiled_stack.h"
#include "lagtape/ops/recurrence/run/layer_runner.h"

namespace lagtape::recurrence {

/// The address of the vectors of a row.
struct RowAddress {
  enum class Base : std::uint8_t {
    memory,   ///< the start of the stream's memory
    state,    ///< the place of moving state `state` at the current step
    weights,  ///< the start of the packed weights
  };
  Base base = Base::memory;
  int state = -1;                       ///< the number of a moving state; -1 for other bases
  std::array<std::int64_t, 2> bytes{};  ///< the offset from the base, in even and odd steps

  friend bool operator==(const RowAddress&, const RowAddress&) = default;
};

/// A state that moves to another place at every step.
struct MovingState {
  std::size_t layer;
  int array;
  std::int64_t bytes;  ///< bytes per step
};

/// An operand of products as the slots used by their sums (RowPass::Products).
struct RoundedOperand {
  RowAddress from, to;
  std::int64_t k = 0;  ///< numbers
  ProductFormat format = ProductFormat::bf16;
  /// For int8, the address of the QuantizingConstants stored with the weights. The slots are followed by a
  /// flag: all ones if the operand contains a non-finite number, otherwise zero.
  RowAddress constants = {}, not_finite = {};
};

/// The constants used to quantize an operand, as stored with the weights.
struct QuantizingConstants {
  float inverse_scale, most, least;
  std::int32_t offset;
};

/// The factors that convert an exact sum of integers to a number (ops/kernels/int8.h).
struct IntegerSum {
  int sum;     ///< its number among the pass's sums
  int vector;  ///< among the vectors of an iteration
  RowAddress corrections, scales, not_finite;
};

/// One pass over the vectors of a row.
struct RowPass {
  struct Products {
    RowAddress operand;
    /// The inner dimension in slots as large as a scalar: each holds one number, a pair of bf16 numbers, or
    /// four int8 numbers.
    std::int64_t k = 0;
    int count = 0;                   ///< matrices that are multiplied by it
    std::int64_t vector_bytes = 64;  ///< bytes of the sums; less than a vector if there are few sums
    ProductFormat format = ProductFormat::scalar;
  };
  std::vector<RoundedOperand> rounded;  ///< written before the pass starts
  std::vector<IntegerSum> integer_sums;
  int together = 1;          ///< neighboring vectors that are processed together
  std::int64_t vectors = 1;  ///< iterations over the vectors of a row
  /// The sums of all products are numbered consecutively. For each vector of the row, each product, and each
  /// element of its operand, a vector of each matrix is packed.
  std::vector<Products> products;
  std::int64_t weights = 0;        ///< byte offset of the pass's part of the packed weights
  VectorProgram program;           ///< the sums come first
  std::vector<RowAddress> places;  ///< one per program operand

  std::int64_t packed_bytes() const;  ///< per iteration
  /// Whether constants stay in registers, loaded once for several vectors. With a single vector, loads are not
  /// the bottleneck, and keeping constants is slower.
  bool keeps_constants() const { return vectors * together > 1; }
};

/// A step of a stack for one row.
template <class T>
struct RowProgram {
  std::vector<RowPass> passes;
  RowAddress input, output;
  bool output_is_kept =
      true;  ///< whether the output has another reader in its own memory, such as the next step
  std::int64_t input_width = 0, output_width = 0;
  std::vector<MovingState> moving;
  AlignedMemory weights;
};

/// The memory, in elements, for rounded operands in a one-row step.
template <class T>
std::int64_t rounded_elements(const CompiledStack<T>& stack);

/// Where a one-row stream stores its numbers.
template <class T>
struct RowMemory {
  const T* base;     ///< the start of the memory in which the layers are laid out
  const T* rounded;  ///< rounded_elements for operands
};

/// The step of a stack for one row; none if a stage is neither plain products nor accepted by `record`.
/// `layers` are laid out for one row; `weights` as CompiledStack::load takes them.
template <class T>
std::optional<RowProgram<T>> row_program(const CompiledStack<T>& stack,
                                         const std::deque<LayerRunner<T>>& layers, const RowMemory<T>& memory,
                                         std::span<const Tensor> weights);

}  // namespace lagtape::recurrence
