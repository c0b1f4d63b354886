#pragma once

#include <string>
#include <string_view>

namespace lagtape {

/// A cell of a .csv file: the text, in quotes where a comma, a quote or a line break needs them (RFC 4180).
std::string csv_cell(std::string_view text);

}  // namespace lagtape
