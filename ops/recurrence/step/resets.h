#pragma once

#include <cstdint>
#include <optional>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// The step of a layer whose states are reset at any step where the given input column is above 0, before that
/// step. `n` is not reset; it still counts from the start of the sequence. The program tests the column at
/// every step. Throws InputError for a state on the grid and for trained lags.
StepProgram with_reset_column(const StepProgram& program, std::int64_t column);

/// A step and the column that marks its resets.
struct StepWithoutResets {
  StepProgram program;  ///< its states are the first ones of the step that tests
  std::int64_t column = -1;
};

/// The step without the test, for callers that handle resets themselves (run/row_resets); none if
/// with_reset_column would not turn it back into the same program.
std::optional<StepWithoutResets> without_reset_column(const StepProgram& program);

}  // namespace lagtape
