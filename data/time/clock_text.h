#pragma once

#include "lagtape/data/time/time_parts.h"

namespace lagtape {

/// Reads the text after a date: a time of day with its offset, up to the end of the text. Adds its form to `style`.
bool read_clock(std::string_view text, TimeParts& parts, std::uint32_t& style);
/// The pattern of times of day of such a style: " %H:%M:%S".
std::string clock_pattern(std::uint32_t style, int digits);

}  // namespace lagtape
