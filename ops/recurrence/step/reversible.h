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
// to the grid once, so subtracting the same increment leads back exactly (Levesque and Verlet 1993). The
// step computes with the state in the model's precision.

/// The update of a state on the grid: s' = s + increment, or s - increment.
struct GridUpdate {
  int increment = -1;  ///< the number of its value
  bool negated = false;
};

/// The update of `state`; empty unless its next value is a sum or difference of the state itself and another value.
std::optional<GridUpdate> grid_update(const StepProgram& program, int state);

/// Throws InputError for a state on the grid with lags, and for one that is not updated as in GridUpdate.
void check_grid(const StepProgram& program);

/// The nearest multiple of 2^-32.
double nearest_on_grid(double v);

/// Throws InputError "[place] ..." for a number beyond the end of the grid in a window (one tensor a state,
/// layer by layer, [history + 1, B, width]; more tensors may follow). NaN passes: it marks a state that has
/// left the grid.
void check_grid_window(std::string_view place, std::span<const StepProgram> layers,
                       std::span<const Tensor> window);

/// The backward order of a step's states, or the reason why there is none.
struct UndoOrder {
  std::vector<int> states;  ///< in the order in which they are undone
  std::string obstacle;     ///< empty: the step is reversible
};

/// A step is reversible when all its states are on the grid and can be put in an order in which every
/// increment depends only on x, on states after the step, and on states before it that come earlier in the
/// order. Steps without states are reversible.
UndoOrder undo_order(const StepProgram& program);

}  // namespace lagtape
