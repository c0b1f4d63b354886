#pragma once

#include <cstdint>
#include <string>

namespace lagtape {

/// "12.3 MiB"; bytes below 1 KiB as they are.
std::string bytes_of(std::int64_t bytes);

/// "12.3 MiB (12897485 bytes)": for messages, whose numbers a user may give back.
std::string exact_bytes_of(std::int64_t bytes);

}  // namespace lagtape
