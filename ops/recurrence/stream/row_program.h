#pragma once

// A step of a stack for a single row, as its emitter reads it.
//
// With one row, a step is so little work that the time between stages decides: calls, products that pass
// through memory on their way to element-wise work, chains of sums with nothing to do meanwhile. So a step
// becomes a list of passes over the vectors of a row. A pass sums up the products of one vector in registers,
// does the element-wise work on them, and goes on to the next: the processor has the sums of the next vector
// to do while a tanh waits for its division. Weights are packed once more, in the order of use.
//
// Steps of even and of odd number have their own code. States that are read one step back only, and states
// on the grid, change places between them, so that their addresses are numbers in the code. Each takes the
// vectors in its own order, to find in the cache what the step before used last. Long sums go forwards
// in even steps and backwards in odd ones. Other passes take the vectors upwards, except for the first few: a
// read-out adds up the elements of a row from the first on, as soon as they are there, while the sums of
// later vectors are computed.

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
    memory,   ///< the beginning of the stream's memory
    state,    ///< the place of moving state `state` at the step at work
    weights,  ///< the beginning of the packed weights
  };
  Base base = Base::memory;
  int state = -1;                       ///< the number of a moving state; -1 for other bases
  std::array<std::int64_t, 2> bytes{};  ///< the offset from the base, in even and odd steps

  friend bool operator==(const RowAddress&, const RowAddress&) = default;
};

/// A state that lies in another place at every step.
struct MovingState {
  std::size_t layer;
  int array;
  std::int64_t bytes;  ///< bytes of a step
};

/// An operand of products as the slots that their sums go through (RowPass::Products).
struct RoundedOperand {
  RowAddress from, to;
  std::int64_t k = 0;  ///< numbers
  ProductFormat format = ProductFormat::bf16;
  /// For int8, among the weights: QuantizingConstants. Behind the slots follows a number whose bits are all set
  /// when the operand has a number that is not finite, and else zero.
  RowAddress constants = {}, not_finite = {};
};

/// The constants that an operand is quantized with, as they lie among the weights.
struct QuantizingConstants {
  float inverse_scale, most, least;
  std::int32_t offset;
};

/// The factors that make a number of an exact sum of integers (ops/kernels/int8.h).
struct IntegerSum {
  int sum;     ///< its number among the pass's sums
  int vector;  ///< among the vectors of a turn
  RowAddress corrections, scales, not_finite;
};

/// One pass over the vectors of a row.
struct RowPass {
  struct Products {
    RowAddress operand;
    /// The inner dimension in slots as large as a scalar: one number each, a pair of numbers in bf16, or four
    /// in int8.
    std::int64_t k = 0;
    int count = 0;                   ///< matrices that are multiplied by it
    std::int64_t vector_bytes = 64;  ///< bytes of the sums; fewer than a vector's where there are few sums
    ProductFormat format = ProductFormat::scalar;
  };
  std::vector<RoundedOperand> rounded;  ///< written before the pass begins
  std::vector<IntegerSum> integer_sums;
  int together = 1;          ///< neighboring vectors that are worked on at once
  std::int64_t vectors = 1;  ///< turns over the vectors of a row
  /// The sums of all products are numbered one after another. For each vector of the row, each product and
  /// each element of its operand, a vector of each matrix is packed.
  std::vector<Products> products;
  std::int64_t weights = 0;        ///< bytes to the pass's part of the packed weights
  VectorProgram program;           ///< the sums come first
  std::vector<RowAddress> places;  ///< one an operand of the program

  std::int64_t packed_bytes() const;  ///< for each turn
  /// Whether constants stay in registers, loaded once for several vectors. With a single one a step waits for
  /// other things than loads, and is slower so.
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

/// The memory that rounded operands take in a step for one row: elements.
template <class T>
std::int64_t rounded_elements(const CompiledStack<T>& stack);

/// Where a stream of one row has its numbers.
template <class T>
struct RowMemory {
  const T* base;     ///< the beginning of the memory in which the layers are laid out
  const T* rounded;  ///< rounded_elements for operands
};

/// The step of a stack for one row; none when a stage is neither plain products nor one that `record`
/// accepts. `layers` are laid out for one row; `weights` as CompiledStack::load takes them.
template <class T>
std::optional<RowProgram<T>> row_program(const CompiledStack<T>& stack,
                                         const std::deque<LayerRunner<T>>& layers, const RowMemory<T>& memory,
                                         std::span<const Tensor> weights);

}  // namespace lagtape::recurrence
