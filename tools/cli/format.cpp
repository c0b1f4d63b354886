#include "lagtape/tools/cli/format.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace lagtape::cli {

std::string line_of(const Evaluation& evaluation) {
  std::string line;
  for (const auto& [name, value] : evaluation)
    line += fmt::format("{}{} {:.6g}", line.empty() ? "" : "  ", name, value);
  return line;
}

std::string json_of(const Evaluation& evaluation) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : evaluation) json[name] = value;
  return json.dump(2);
}

std::string bytes_of(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 1024 && unit < 4; ++unit) number /= 1024;
  return fmt::format("{:.{}f} {}", number, unit == 0 ? 0 : 1, kUnits[unit]);
}

}  // namespace lagtape::cli
