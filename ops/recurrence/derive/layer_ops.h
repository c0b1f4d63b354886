#pragma once

#include <cstdint>
#include <vector>

#include "lagtape/ops/kernels/kernels.h"
#include "lagtape/ops/recurrence/derive/passes.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape::recurrence {

/// The largest number of rows or columns for a matrix to count as narrow: products with it, and its gradient,
/// are computed one column or row at a time.
inline constexpr std::int64_t kNarrow = 2;

/// An array of rows over steps. Kinds differ in how many steps they hold and in the code that fills them.
struct Array {
  enum class Kind : std::uint8_t {
    input,           ///< x, or the output of the layer below
    state,           ///< state `index`: h[n] for the steps of a chunk and its history
    grid,            ///< state `index` on the grid: doubles, of one step, or two where rows end early
    saved,           ///< a value that the backward pass reads
    output_adjoint,  ///< dL/d(output)
    input_adjoint,   ///< dL/dx
    lag_adjoint,     ///< dL/d(lagged read `index`), consumed a lag later
    direct,          ///< dL/dh through the step itself, carried to the previous step (one step)
    run,             ///< a value that outlives its step but not its run
    step,            ///< a value that outlives its stage but not its step (one step)
  };
  Kind kind = Kind::run;
  int index = 0;
  std::int64_t width = 1;
  bool rounded = false;  ///< numbers are rounded to bf16; f32 values are stored in two bytes
};

/// The location of a value: a register of its stage's tile, an array at (step + `step`), a weight, a number, or
/// none yet.
struct Location {
  enum class Kind : std::uint8_t { none, tile, array, weight, constant };
  Kind kind = Kind::none;
  int index = -1;
  std::int64_t step = 0;
  double number = 0;
};

/// A value of the step, forward or backward.
struct Value {
  RowShape shape;
  Location location;
};

/// One operation on values, forward or backward, before it is scheduled.
struct Op {
  enum class Kind : std::uint8_t {
    element,           ///< out = element(a, b, c; k)
    sum,               ///< innermost axis of a
    broadcast,         ///< along the innermost axis of out
    concatenate,       ///< a, then b
    slice,             ///< elements of a, starting at `index`
    pad,               ///< a at the elements starting at `index`, 0 elsewhere
    view,              ///< the elements of a starting at `index`, by `strides`
    collect,           ///< the reverse: adds each element of a to the one that a view of out reads
    step_index,        ///< out = n, or floor(n / lag)
    draw,              ///< draw `index`
    real_lag,          ///< state `index` tau = a steps ago, at most `lag`
    real_lag_slope,    ///< the derivative of real_lag with respect to tau
    real_lag_adjoint,  ///< contribution of the lagged read `index` (delay a, at most `lag`) to the adjoint
                       ///< of the state after the step
    grid_update,       ///< state `index` on the grid moves by k * a, k = 1 or -1; out is its value
    grid_undo,         ///< undoes grid_update
    save,              ///< out = a rounded to bf16, in an array of rounded numbers
    restore,           ///< out = a from such an array; only in stages
    product,           ///< out = sum over terms of W @ operand (or W^T @ operand)
    narrow_product,    ///< out = W @ operand, of one or two numbers: element-wise work
  };
  struct Term {
    int weight = -1;
    int operand = -1;
  };
  Kind kind = Kind::element;
  ElementOp element = ElementOp::copy;
  int out = -1;
  int a = -1, b = -1, c = -1;
  double k = 0;
  int index = -1;
  std::int64_t lag = 0;
  Strides4 strides = {};
  std::vector<Term> terms;
  bool transposed = false;
};

using Ops = std::vector<Op>;

/// Calls f with every value that an op reads (by reference if the op may be changed).
template <class AnyOp, class F>
void for_operands(AnyOp& op, F f) {
  for (auto* o : {&op.a, &op.b, &op.c})
    if (*o >= 0) f(*o);
  for (auto& term : op.terms) f(term.operand);
}

/// The ops of a layer by the time at which they run. A run is kRun steps (memory/extent.h), a block at most the
/// smallest lag + 1.
///
/// forward.before   time-parallel: depends on the input alone
/// forward.block    delay-parallel: depends on states at least `block` - 1 steps old
/// forward.step     sequential
/// forward.after    feeds no state
/// replay.before    the saved values from the states
/// undo             the states before a step from those after it, and the saved values; empty unless the
///                  step is reversible. `before` depends on the input alone, `step` leads to the states (the
///                  last step first), `after` is the rest
/// backward.before  adjoints of forward.after
/// backward.step    adjoints that the step before waits for
/// backward.block   adjoints of lagged reads
/// backward.after   adjoints that no step waits for
struct LayerOps : Passes<Ops> {
  std::vector<Value> values;
  std::vector<Array> arrays;

  int output = -1;         ///< value: always in an array
  std::int64_t block = 0;  ///< steps of a delay block; 0: no delays

  /// A gradient that is summed over the rows of a run.
  struct MatrixGradient {
    int weight, delta, operand;  ///< dW += delta^T operand
  };
  struct VectorGradient {
    int weight, adjoint;
  };
  std::vector<MatrixGradient> matrix_gradients;
  std::vector<VectorGradient> vector_gradients;

  /// The lagged reads, largest lag first.
  struct LaggedRead {
    int state;
    std::int64_t lag;  ///< the largest one, for a real lag
    int tau = -1;      ///< value of the real lag
    int adjoint_array = -1;
    bool by_step = true;  ///< the state takes its adjoints one step at a time
  };
  std::vector<LaggedRead> lagged;
  /// For each state: the arrays of its values and of its direct adjoints (element-wise part, product part; -1
  /// if none).
  std::vector<int> state_arrays;
  std::vector<int> grid_arrays;  ///< -1 for states in the model's precision
  struct Direct {
    int element = -1, product = -1;
  };
  std::vector<Direct> direct;
  int input_array = -1, output_adjoint_array = -1, input_adjoint_array = -1;
};

}  // namespace lagtape::recurrence
