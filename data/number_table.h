#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// Rows of numbers in f32 between blanks, `columns` a row, as in "  2.57e-001 1.8". Throws InputError "WHERE:
/// line L: ..." for anything else, also for a number that is not finite, and when there is no row.
std::vector<float> parse_number_table(std::string_view text, std::int64_t columns, const std::string& where);

}  // namespace lagtape
