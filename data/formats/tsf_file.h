#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// The series of a .tsf file (Monash forecasting archive) as a long table in .csv: the series' attributes, of which the
/// first names it if it is a text, else a number in a column "series" before them, "time" where the file has start
/// times, and "value". Adds a note on the header. Throws InputError "WHERE: line L: ...".
std::string long_table_of_tsf(std::string_view text, const std::string& where,
                              std::vector<std::string>& notes);

}  // namespace lagtape
