#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace lagtape {

/// The names of what is in a folder, sorted. Of a folder that cannot be read, `error` says why. It stands for
/// std::filesystem::directory_iterator, which ends the program when there is no memory.
std::vector<std::string> entries_of(const std::filesystem::path& folder, std::error_code& error);

}  // namespace lagtape
