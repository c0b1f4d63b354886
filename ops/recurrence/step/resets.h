#pragma once

#include <cstdint>
#include <optional>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// The step of a layer whose states begin again where a column of the input says so: a number above 0 says that they do before
/// that step. `n` counts on from the beginning of the sequence. The program asks at every step. Throws InputError for a state
/// on the grid and for trained lags.
StepProgram with_reset_column(const StepProgram& program, std::int64_t column);

/// A step and the column that says where its states begin again.
struct StepWithoutResets {
  StepProgram program;  ///< its states are the first ones of the step that asks
  std::int64_t column = -1;
};

/// The step that does not ask, for those who see to resets themselves (run/row_resets); none where with_reset_column would not
/// make the same program of it again.
std::optional<StepWithoutResets> without_reset_column(const StepProgram& program);

}  // namespace lagtape
