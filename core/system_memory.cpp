#include "lagtape/core/system_memory.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace lagtape {

namespace {

namespace fs = std::filesystem;

/// The smaller of the bytes and the limit in a kernel file. A missing file, or the limit "max", means no limit.
std::int64_t limited(std::int64_t bytes, const fs::path& path) {
  std::ifstream file(path);
  std::int64_t limit = 0;
  return file >> limit && limit > 0 ? std::min(bytes, limit) : bytes;
}

/// The path of this process in the tree of cgroups that limits its memory, or "/".
fs::path cgroup(std::string_view controller) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // NUMBER:CONTROLLERS:PATH
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    if (std::string_view(line).substr(first + 1, second - first - 1) == controller)
      return line.substr(second + 1);
  }
  return "/";
}

/// The smallest of the bytes and the limits of a cgroup and its ancestors.
std::int64_t limited_in(std::int64_t bytes, const fs::path& tree, fs::path group, const char* name) {
  for (;; group = group.parent_path()) {
    bytes = limited(bytes, tree / group.relative_path() / name);
    if (!group.has_relative_path()) return bytes;
  }
}

}  // namespace

std::int64_t system_memory() {
  const std::int64_t all = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  const fs::path root = "/sys/fs/cgroup";
  return limited_in(limited_in(all, root, cgroup(""), "memory.max"), root / "memory", cgroup("memory"),
                    "memory.limit_in_bytes");
}

}  // namespace lagtape
