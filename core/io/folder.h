#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace lagtape {

/// The names of a folder's entries, sorted; `error` says why a folder cannot be read. It replaces
/// std::filesystem::directory_iterator, which terminates the program when memory runs out.
std::vector<std::string> entries_of(const std::filesystem::path& folder, std::error_code& error);

}  // namespace lagtape
