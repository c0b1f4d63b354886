#include "lagtape/core/byte_size.h"

#include <iomanip>

#include "lagtape/core/error.h"

namespace lagtape {

std::string bytes_of(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 1024 && unit < 4; ++unit) number /= 1024;
  return text_of(std::fixed, std::setprecision(unit == 0 ? 0 : 1), number, ' ', kUnits[unit]);
}

std::string exact_bytes_of(std::int64_t bytes) {
  return bytes < 1024 ? bytes_of(bytes) : text_of(bytes_of(bytes), " (", bytes, " bytes)");
}

}  // namespace lagtape
