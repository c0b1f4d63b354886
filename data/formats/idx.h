#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Unsigned bytes in row-major order, as the MNIST files hold them.
struct Idx {
  Shape shape;
  std::string bytes;  ///< header included

  /// The elements.
  std::span<const std::uint8_t> values() const;
};

/// Reads the IDX format: 0, 0, 8 (unsigned byte), the rank; then an extent an axis (32 bits, big-endian);
/// then the elements and nothing more. Throws InputError "WHERE: ..." with what was found and expected:
/// another type or rank, extents that do not fit the number of bytes.
Idx parse_idx(std::string bytes, std::int64_t rank, const std::string& where);

/// The same from a file, plain or gzip.
Idx read_idx(const std::filesystem::path& path, std::int64_t rank);

}  // namespace lagtape
