#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// Whether a word is a finite number and nothing else.
bool is_number(std::string_view word);

/// Removes the next number from a line, with the blanks after it. Throws InputError "WHERE: line ROW: ..." if
/// there is no finite number.
float take_number(std::string_view& line, const std::string& where, std::int64_t row);

/// Parses rows of `columns` numbers separated by blanks, as in " 2.57e-001 1.8". Throws InputError "WHERE: line
/// L: ..." for anything else, for non-finite numbers, and if there are no rows.
std::vector<float> parse_number_table(std::string_view text, std::int64_t columns, const std::string& where);

}  // namespace lagtape
