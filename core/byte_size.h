#pragma once

#include <cstdint>
#include <string>

namespace lagtape {

/// The size in the largest fitting unit: "12.3 MiB"; below 1 KiB in bytes.
std::string bytes_of(std::int64_t bytes);

/// The size with its exact number, "12.3 MiB (12897485 bytes)": a user may copy it from a message.
std::string exact_bytes_of(std::int64_t bytes);

}  // namespace lagtape
