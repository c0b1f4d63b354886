#include "lagtape/core/io/folder.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

namespace lagtape {

std::vector<std::string> entries_of(const std::filesystem::path& folder, std::error_code& error) {
  std::vector<std::string> names;
  const auto fail = [&] { error.assign(errno, std::generic_category()); };
  error.clear();
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.empty() ? "." : folder.c_str()),
                                                    ::closedir);
  if (entries == nullptr) {
    fail();
    return names;
  }
  errno = 0;  // readdir gives the same for the end and for an error
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) fail();
  std::ranges::sort(names);
  return names;
}

}  // namespace lagtape
