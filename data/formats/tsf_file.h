#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lagtape {

/// The series in a .tsf file (Monash forecasting archive) as a long .csv table: the series' attributes (the
/// first one names the series if it is a text; otherwise a column "series" of numbers precedes them), "time" if
/// the file has start times, and "value". Adds a note about the header. Throws InputError "WHERE: line L: ...".
std::string long_table_of_tsf(std::string_view text, const std::string& where,
                              std::vector<std::string>& notes);

}  // namespace lagtape
