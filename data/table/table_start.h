#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/data/table/table_options.h"
#include "lagtape/data/table/text_table.h"

namespace lagtape {

/// Where the table starts in a text that may have other lines above it: "sep=;" as Excel writes it, comments,
/// the last of which may contain the names, and a preamble, whose lines have different numbers of cells than
/// the table. Adds a note for each.
TableStart find_table_start(std::string_view text, const TableOptions& options,
                            std::vector<std::string>& notes);

}  // namespace lagtape
