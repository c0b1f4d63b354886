#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lagtape/cells/build/initial_values.h"
#include "lagtape/cells/build/layer_entry.h"

namespace lagtape {

/// The options that all cells share.
struct CommonCellOptions {
  /// The arithmetic of the states. On the grid a reversible step runs backwards exactly
  /// (ops/recurrence/step/reversible.h). If empty, the cell decides, and JSON does not offer the option.
  std::optional<Arithmetic> arithmetic = {};

  /// One layer for each dilation d in the list, from the input up, whose previous step is d steps back: h[n+1]
  /// = F(h[n+1-d], x[n]), and the cell's h[n-k] is h[n+1-(k+1)d]. Source: "Dilated Recurrent Neural Networks"
  /// (Chang et al. 2017).
  std::vector<std::int64_t> dilations = {};
  bool needs_dilations = false;  ///< an empty list is an error

  /// The input is added to the output of every layer, which must have the same width. If a layer makes several,
  /// all of one width, the lowest may have a different input width; nothing is then added to its output.
  bool residual = false;

  /// Initial values of parameters, instead of the cell's own.
  InitialValues init = {};

  /// The layers of the cell with these options. Throws InputError for a state that cannot be on the grid, a
  /// cell that cannot be dilated, or a residual layer whose widths differ, and as InitialValues::apply does.
  BuildLayer apply(BuildLayer build) const;
};

/// The step of a dilated layer. Throws InputError for a cell with trained lags.
StepProgram dilated(StepProgram program, std::int64_t dilation);

/// The step that adds its input to its output. Throws InputError if their shapes differ.
StepProgram residual(StepProgram program);

}  // namespace lagtape
