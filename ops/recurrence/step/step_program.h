#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/ops/kernels/element_functions.h"

namespace lagtape {

/// The shape of a value in one batch row: a scalar [], a vector [size], a grouped vector [groups, size], or an
/// array of up to four axes. `size` is the last axis, `groups` the product of those before it.
struct RowShape {
  static constexpr int kLargestRank = 4;

  int rank = 0;
  std::int64_t groups = 1;
  std::int64_t size = 1;
  std::array<std::int64_t, kLargestRank - 2> first = {1, 1};  ///< the first ones of three or four axes

  static RowShape scalar() { return {}; }
  static RowShape vector(std::int64_t size) { return {1, 1, size}; }
  static RowShape grouped(std::int64_t groups, std::int64_t size) { return {2, groups, size}; }
  /// For at most kLargestRank axes.
  static RowShape of(const Shape& axes);

  Shape axes() const;
  /// The axes as four, with leading 1s for missing ones; does not allocate.
  std::array<std::int64_t, kLargestRank> four_axes() const;

  std::int64_t width() const { return groups * size; }
  bool operator==(const RowShape&) const = default;
};

std::string to_string(const RowShape& shape);  ///< "[]", "[16]", "[4, 16]"

/// How many elements apart consecutive entries along each axis of an array are, the last axis last; 0 for
/// missing leading axes.
using Strides4 = std::array<std::int64_t, RowShape::kLargestRank>;

enum class StepOp : std::uint8_t {
  // clang-format off
  // leaves
  input,       // x[n]
  state,       // state `index` before the step: h[n]
  lag,         // state `index`, `lag` steps before that: h[n - lag], lag >= 1
  real_lag,    // h[n - tau] by linear interpolation; a = tau (a scalar or one per unit), clamped to 1 .. lag
  weight,      // weight `index`, the same for every row and step: a scalar or a vector
  constant,    // the number `value`
  step_index,  // n, from 0; with a `lag` above 1, floor(n / lag)
  draw,        // random draw `index`
  // matrix product
  product,     // weight `index` [out, in] @ a [in]; a grouped operand [g, in] gives [g, out]
  // element-wise; operands have one shape, or are constants
  element,     // the function `element` of a, or of a and b
  // within a row
  sum,         // over the innermost axis, in a fixed order: [g, n] -> [g], [n] -> []
  broadcast,   // the reverse: a repeated along a new innermost axis, [g] -> [g, n]
  reshape,     // [g * n] <-> [g, n]
  concatenate, // a, then b: [m], [n] -> [m + n]; a scalar counts as [1]
  slice,       // as many elements of a as the shape has, starting at `index`
  view,        // the elements of a starting at `index`, by `strides`: a transposition, a repeated axis
  // clang-format on
};

bool is_leaf(StepOp op);

/// One operation of a step; values are numbered by position. a and b are the operands' numbers, -1 if there is
/// none.
struct Instruction {
  StepOp op = StepOp::constant;
  ElementOp element = ElementOp::copy;  ///< the function of an element-wise operation
  RowShape shape;
  int a = -1;
  int b = -1;
  int index = -1;         ///< the state, weight, or draw that is read; for slice and view, the first element
  std::int64_t lag = 0;   ///< for lag, its steps; for real_lag, the largest delay; for step_index, a divisor
  double value = 0;       ///< for constant, the number
  Strides4 strides = {};  ///< for view

  bool computes(ElementOp function) const { return op == StepOp::element && element == function; }
  bool operator==(const Instruction&) const = default;
};

std::string_view name_of(const Instruction& instruction);  ///< "product", "tanh"

/// The strides of a view, one per axis of its result.
Shape strides_of(const Instruction& view);
/// The index of the operand's element that a view reads as its element number `element`.
std::int64_t place_in_view(const Instruction& view, std::int64_t element);

/// A state's numbers: `real` is the model's precision; `grid` holds doubles that are multiples of 2^-32, so
/// adding and subtracting an increment is exact (step/reversible.h).
enum class Arithmetic : std::uint8_t { real, grid };

struct StateDefinition {
  std::string name;
  RowShape shape;
  int next = -1;  ///< the value that the state takes after the step
  Arithmetic arithmetic = Arithmetic::real;
  // Set by find_reads:
  int value = -1;            ///< the value by which the step reads the state before it; -1: it does not
  std::int64_t history = 0;  ///< the number of past values, in addition to the current one, that it must keep
};

/// A weight as the step sees it: a matrix [out, in], a vector [n] or a scalar [].
struct WeightDefinition {
  std::string name;
  Shape shape;
};

/// A counter-based random draw, one number per unit: a function of (seed, epoch, sequence, step, unit) that
/// never depends on the row. A mask is 0 with probability `rate`, else 1 / (1 - rate).
struct DrawDefinition {
  enum class Kind : std::uint8_t { uniform, normal, mask } kind = Kind::uniform;
  bool every_step = true;  ///< false: one draw for the whole sequence (variational dropout)
  double evaluation = 0;   ///< the value outside training
  double rate = 0;         ///< the probability that a mask is 0

  bool operator==(const DrawDefinition&) const = default;
};

/// A value that analysis can request by name: a gate, a time scale, an equation's left-hand side.
struct NamedValue {
  std::string name;
  int value = -1;
};

/// One time step on the vectors of one batch row, as a straight-line program in static single assignment.
/// Everything else about a cell is derived from it. Canonical: values are numbered in the order in which the
/// states' next values and the output first need them, so equal equations give equal programs.
struct StepProgram {
  std::vector<Instruction> values;
  std::vector<StateDefinition> states;
  std::vector<WeightDefinition> weights;
  std::vector<DrawDefinition> draws;
  std::vector<NamedValue> named;  ///< values that are computed anyway; not printed with the program
  RowShape input;
  int output = -1;

  /// How far back a state is read: its largest lag.
  std::int64_t history(int state) const { return states[static_cast<std::size_t>(state)].history; }
  std::int64_t largest_lag() const;
  /// Whether a value is a function of only weights and numbers, the same in every row and step.
  bool is_fixed(int value) const;
  /// Multiplications and additions of the matrix products for one row and step, two per weight.
  std::int64_t product_flops() const;
};

/// Records in each state how the values read it. Call it again after changing the values.
void find_reads(StepProgram& program);

/// The program as text, one line per value, as `inspect` prints it and tests compare it.
std::string to_string(const StepProgram& program);

}  // namespace lagtape
