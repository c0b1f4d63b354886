#pragma once

#include <cstdint>
#include <string>

#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

/// How a value between two steps is found: on the line through its two neighbors, or on the cubic polynomial
/// through four (Lagrange), for lags of 0.5 to 1 through the last three. A value between the last step and the next
/// lies on the same through the last ones.
enum class Interpolation : std::uint8_t { linear, cubic };

/// "linear" or "cubic". Throws InputError for another name.
Interpolation interpolation_named(const std::string& name);

/// The rates that a step can be run at, in steps for each step of training. Below the smallest one, a value would
/// be more than half a step ahead of the last one that is known.
inline constexpr double kSmallestRate = 0.5, kLargestRate = 8;

/// A recurrence that takes `rate` steps where it took one in training, such as 48 / 44.1 for sound of another
/// sample rate: what it reads of k steps before, it then reads of rate k steps before, between two steps by
/// interpolation. Below a rate of 1 that is up to half a step ahead, by extrapolation, which some models do not
/// bear (check_stability). Sources: "Sample Rate Independent Recurrent Neural Networks for Audio Effects
/// Processing" (Carson, Wright, Chowdhury, Valimaki and Bilbao 2024), and for rates below 1 "Interpolation Filter
/// Design for Sample Rate Independent Audio Effect RNNs" (Carson, Wright and Bilbao 2024). States leave
/// the grid. Throws InputError for a rate that is not in 0.5 .. 8, and for a step with trained lags or with the
/// step index.
StepProgram step_at_rate(const StepProgram& program, double rate, Interpolation interpolation);

}  // namespace lagtape
