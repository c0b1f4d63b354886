#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/tools/sweep/table/paper_table.h"

namespace lagtape::table {

/// The table as Markdown, followed by remarks on its rows. `command` is the command that reproduces it.
std::string markdown(const PaperTable& table, const std::vector<Trial>& trials, const std::string& command);

/// A page with a table between the lines "<!-- table NAME -->" and "<!-- end of table NAME -->", or at its end
/// if it has neither. A missing page counts as empty. Throws InputError for a page that contains only one of
/// the lines, one of them twice, or another table between them.
std::string page_with(const std::filesystem::path& page, const std::string& name, const std::string& table);
/// Writes that page.
void put_into_page(const std::filesystem::path& page, const std::string& name, const std::string& table);

}  // namespace lagtape::table
