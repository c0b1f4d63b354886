#pragma once

#include "lagtape/cells/equation_cell.h"
#include "lagtape/core/option_table.h"

namespace lagtape {

/// The keys of a cell in continuous time, which has no "step":
///
///     { "ode":     [ "z = y(t - tau)", "dy = a * z / (1 + z ^ p) - b * y" ],
///       "history": { "y": "y0" },                    for each state a number, an expression of t and params,
///                                                    "observed" or "train" (cells/ode_history.h)
///       "input":   "u",                              the name of the input
///       "solver":  { "method": "rk4", "h": { "lag": "tau", "parts": 68 }, "dense": "hermite",
///                    "breaks": "cut", "levels": 5, "inputs": "hold",
///                    "dt": 1 } }                   in a model: the time of a step of its data, or its bounds
///
/// The rows are of a CellDefinition.
extern const OptionTable kOdeOptions;

/// Checks the lags for the solver: each is positive, at least a step, and bounded by a number known in advance.
/// Throws InputError.
void check_lags(const CellDefinition& definition, const RightSide& side);

/// The cell with a param STATE.history for each trained history. Throws InputError.
CellDefinition with_trained_histories(const CellDefinition& definition);

/// Sets the expressions of spline histories, over the largest lag.
void set_splines(CellDefinition& definition, const RightSide& side);

/// The step of a layer with such a cell, for one step of the data, which is `input` numbers wide. Throws
/// InputError.
StepProgram step_of(const CellDefinition& definition, const RightSide& side, std::int64_t input);

}  // namespace lagtape
