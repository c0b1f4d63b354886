#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace lagtape::recurrence {

enum class VectorOp : std::uint8_t {
  // clang-format off
  load,                                 // out = array `operand`
  load_number,                          // out = number `number` of the row of array `operand`, repeated
  store,                                // array `operand` = a, rounded if the array holds rounded numbers
  add, subtract, multiply, divide,      // a, b
  minimum, maximum,                     // a < b ? a : b, a > b ? a : b
  square_root,                          // a
  multiply_add,                         // a * b + c, rounded once
  bit_and, bit_or, bit_xor,             // a, b
  shift_left, shift_right,              // a, by `shift` bits; zeros come in
  add_integers, subtract_integers,      // a, b
  select,                               // compare(a, b) ? c : d
  grid_step,                            // out = new value of grid `operand_to`: grid `operand` + a, or - a
  product,                              // out = sum `operand` of a RowPass's products, already in a register
  // clang-format on
};

enum class Comparison : std::uint8_t { equal, less, less_equal, greater, greater_equal };  ///< false for NaN

/// Operands and results are value numbers; each value is computed once.
struct VectorInstruction {
  VectorOp op = VectorOp::load;
  int out = -1, a = -1, b = -1, c = -1, d = -1;
  int operand = -1, operand_to = -1;
  bool negated = false;
  int shift = 0;
  int number = 0;
  int vector = 0;                  ///< the number of the vector among neighboring ones
  bool rounded = false;            ///< a load from or a store to an array of bf16-rounded numbers
  bool prefetches_before = false;  ///< a load also prefetches the same location one step earlier
  Comparison comparison = Comparison::equal;
  auto operator<=>(const VectorInstruction&) const = default;
};

struct VectorValue {
  enum class Kind : std::uint8_t { computed, constant, weight };
  Kind kind = Kind::computed;
  std::uint64_t bits = 0;  ///< a constant, in as many bits as the scalar
  int operand = -1;        ///< the operand that is a weight
  int vector = 0;          ///< the number of the vector, among neighboring ones, that it belongs to
};

/// A stage as operations on one vector of a row: every array is loaded at most once, and values that the stage
/// has stored in an array are not reloaded.
struct VectorProgram {
  std::vector<VectorValue> values;
  std::vector<VectorInstruction> instructions;
  std::int64_t width = 0;         ///< elements of a row, padded
  std::int64_t number_width = 0;  ///< width of the rows that single numbers are loaded from; 0: none
  /// The stage writes an array that it also uses at another step, so it can run only one step at a time.
  bool single_step = false;
};

}  // namespace lagtape::recurrence
