#pragma once

#include <cstdint>
#include <string>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// How a value between two steps is found: on the line through its two neighbors, or on the cubic (Lagrange)
/// polynomial through four, or, for lags of 0.5 to 1, on the polynomial through the last three. A value between
/// the last step and the next is extrapolated from the last ones by the same curve.
enum class Interpolation : std::uint8_t { linear, cubic };

/// "linear" or "cubic". Throws InputError for another name.
Interpolation interpolation_named(const std::string& name);

/// The rates at which a step can be run, in steps per training step. Below the smallest, a value would lie more
/// than half a step beyond the last known one.
inline constexpr double kSmallestRate = 0.5, kLargestRate = 8;

/// A recurrence that takes `rate` steps where it took one in training, such as 48 / 44.1 for sound at another
/// sample rate: where it read k steps back, it now reads rate * k steps back, interpolating between steps. At
/// rates below 1 this reads up to half a step ahead, by extrapolation, which makes some models unstable
/// (check_stability). Sources: "Sample Rate Independent Recurrent Neural Networks for Audio Effects Processing"
/// (Carson, Wright, Chowdhury, Valimaki and Bilbao 2024), and for rates below 1 "Interpolation Filter Design
/// for Sample Rate Independent Audio Effect RNNs" (Carson, Wright and Bilbao 2024). States leave the grid.
/// Throws InputError for a rate outside 0.5 .. 8, and for a step with trained lags or the step index.
StepProgram step_at_rate(const StepProgram& program, double rate, Interpolation interpolation);

}  // namespace lagtape
