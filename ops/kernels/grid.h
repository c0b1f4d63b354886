#pragma once

namespace lagtape {

// The grid of reversible states: the multiples of 2^-32 up to 2^18 in magnitude, all exactly representable in a
// double. Only this file defines it.

/// The grid ends at 2^18.
inline constexpr int kGridExponent = 18;
inline constexpr double kGridLimit = 1 << kGridExponent;

/// Adding 1.5 * 2^20, whose last bit is worth 2^-32, and subtracting it again rounds to a multiple of 2^-32.
/// That holds for increments up to 2^19; a larger one cannot lead from one grid number to another.
inline constexpr double kGridRounding = 3 << 19;

}  // namespace lagtape
