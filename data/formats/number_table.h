#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// Whether a word is a finite number and nothing else.
bool is_number(std::string_view word);

/// The next number of a line, which is taken off it with the blanks behind it. Throws InputError "WHERE: line
/// ROW: ..." when it is none.
float take_number(std::string_view& line, const std::string& where, std::int64_t row);

/// Rows of numbers in f32 between blanks, `columns` a row, as in "  2.57e-001 1.8". Throws InputError "WHERE:
/// line L: ..." for anything else, also for a number that is not finite, and when there is no row.
std::vector<float> parse_number_table(std::string_view text, std::int64_t columns, const std::string& where);

}  // namespace lagtape
