#pragma once

#include <cstdint>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// How a past value between two steps is found: from its two neighbours, or by the cubic polynomial through four
/// (Lagrange).
enum class Interpolation : std::uint8_t { linear, cubic };

/// The largest rate that a step can be run at, in steps for each step of training.
inline constexpr double kLargestRate = 8;

/// A recurrence that takes `rate` steps where it took one in training, such as 48 / 44.1 for sound of another
/// sample rate: what it reads of k steps before, it then reads of rate k steps before, between two steps by
/// interpolation. Source: "Sample Rate Independent Recurrent Neural Networks for Audio Effects Processing" (Carson,
/// Wright, Chowdhury, Valimaki and Bilbao 2024). States leave the grid. Throws InputError for a rate that is not
/// in 1 .. 8, and for a step with trained lags or with the step index.
StepProgram step_at_rate(const StepProgram& program, double rate, Interpolation interpolation);

}  // namespace lagtape
