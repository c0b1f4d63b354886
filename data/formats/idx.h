#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// An array of unsigned bytes in row-major order, as in the MNIST files.
struct Idx {
  Shape shape;
  std::string bytes;  ///< header included

  /// The elements, without the header.
  std::span<const std::uint8_t> values() const;
};

/// Parses the IDX format: 0, 0, 8 (unsigned byte), the rank; then the extent of each axis (32 bits,
/// big-endian); then only the elements. Throws InputError "WHERE: ..." with what was found and expected for a
/// different type or rank, and for extents that do not match the number of bytes.
Idx parse_idx(std::string bytes, std::int64_t rank, const std::string& where);

/// Reads the same format from a file, plain or gzip.
Idx read_idx(const std::filesystem::path& path, std::int64_t rank);

}  // namespace lagtape
