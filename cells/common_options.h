#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lagtape/cells/initial_values.h"
#include "lagtape/cells/registry.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// What an entry of "layers" may say whatever its cell.
///
/// arithmetic: of the states; on the grid a reversible step runs backwards exactly (ops/recurrence/step/reversible.h).
/// dilations: a layer for each d of the list, from the input up, in which the step before is d steps back:
/// h[n+1] = F(h[n+1-d], x[n]), and h[n-k] of the cell is h[n+1-(k+1)d]. Source: "Dilated Recurrent Neural
/// Networks" (Chang et al. 2017).
/// residual: the input is added to the output of every layer; both have one width. Of layers inside a layer,
/// all of one width, the lowest may have another input and then goes without. init: first values of
/// parameters in the place of the cell's own.
struct CommonCellOptions {
  std::optional<Arithmetic> arithmetic = Arithmetic::real;  ///< none: no option, it is as the layers have it
  std::vector<std::int64_t> dilations;
  bool needs_dilations = false;  ///< the list may not be missing
  bool residual = false;
  InitialValues init;

  void read(JsonReader& reader);
  /// The layers of the cell with all that. Throws InputError for a state that cannot be on the grid, a cell
  /// that cannot be dilated, a residual layer whose widths differ, and what InitialValues throws.
  BuildLayer apply(BuildLayer build) const;
};

/// The step of a dilated layer. Throws InputError for a cell whose lags are trained.
StepProgram dilated(StepProgram program, std::int64_t dilation);

/// The step that adds its input to its output. Throws InputError when their shapes differ.
StepProgram residual(StepProgram program);

}  // namespace lagtape
