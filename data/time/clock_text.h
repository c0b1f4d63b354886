#pragma once

#include "lagtape/data/time/time_parts.h"

namespace lagtape {

/// Reads the text after a date up to its end: a time of day with its offset. Adds its form to `style`.
bool read_clock(std::string_view text, TimeParts& parts, std::uint32_t& style);
/// The pattern for times of day in such a style: " %H:%M:%S".
std::string clock_pattern(std::uint32_t style, int digits);

}  // namespace lagtape
