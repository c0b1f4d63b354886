#include "lagtape/tools/sweep/table/machine.h"

#include <fmt/core.h>

#include <fstream>

#include "lagtape/core/thread_pool.h"

namespace lagtape::table {

std::string machine() {
  std::ifstream lines("/proc/cpuinfo");
  std::string name = "unknown processor";
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    name = line.substr(colon + 2);
    break;
  }
  return fmt::format("{}, {} cores", name, ThreadPool::hardware_threads());
}

}  // namespace lagtape::table
