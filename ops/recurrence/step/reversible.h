#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

// States on the grid (ops/kernels/grid.h), and the inverse of a step (see "Reversible" in
// ops/recurrence/README.md). A step adds an increment that was computed in the model's precision and rounded
// once to the grid, so subtracting the same increment restores the state exactly (Levesque and Verlet 1993).
// The step computes with the state in the model's precision.

/// The update of a state on the grid: s' = s + increment, or s - increment.
struct GridUpdate {
  int increment = -1;  ///< the number of the increment's value
  bool negated = false;
};

/// The update of `state`; empty unless its next value is the sum or difference of the state itself and another
/// value.
std::optional<GridUpdate> grid_update(const StepProgram& program, int state);

/// Throws InputError for a state on the grid with lags, and for one that is not updated as in GridUpdate.
void check_grid(const StepProgram& program);

/// The nearest multiple of 2^-32.
double nearest_on_grid(double v);

/// Throws InputError "[place] ..." for a number in a window that is outside the grid's range (one tensor per
/// state, layer by layer, [history + 1, B, width]; more tensors may follow). NaN passes: it marks a state that
/// has left the grid.
void check_grid_window(std::string_view place, std::span<const StepProgram> layers,
                       std::span<const Tensor> window);

/// The order in which to undo a step's states, or the reason why there is none.
struct UndoOrder {
  std::vector<int> states;  ///< in undo order
  std::string obstacle;     ///< empty: the step is reversible
};

/// A step is reversible if all its states are on the grid and can be ordered so that every increment depends
/// only on x, on states after the step, and on states before it that come earlier in the order. Steps without
/// states are reversible.
UndoOrder undo_order(const StepProgram& program);

}  // namespace lagtape
