#include "lagtape/core/system_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace lagtape {

std::int64_t system_memory() {
  std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::int64_t limit = 0;
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);  // a limit of "max" is no number
  }
  return bytes;
}

}  // namespace lagtape
