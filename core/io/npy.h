#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Reads NumPy's array file, formats 1.0 and 2.0 (numpy.lib.format), C order, little endian: '<f4' and '<f8'
/// unchanged; halves, bools and integers of at most 16 bits as f32; longer integers (up to 2^53 in magnitude)
/// as f64. Throws InputError "WHERE: ..." for anything else: another dtype, Fortran order, a size that does not
/// match the shape exactly. Sizes are checked before anything is allocated.
Tensor parse_npy(std::string_view bytes, const std::string& where);
Tensor read_npy(const std::filesystem::path& path);

/// The same for '<f4' and '<f8', over a MappedFile, so an array may be larger than memory.
Tensor map_npy(const std::filesystem::path& path);

/// The size of a file that starts with these bytes, from its header, so no more needs to be decompressed; empty
/// if more bytes are needed to tell. Throws as parse_npy does.
std::optional<std::uint64_t> npy_size(std::string_view beginning, const std::string& where);

/// The bytes that numpy.save would write (format 1.0, data at a multiple of 64) for an f32 or f64 tensor.
std::string serialize_npy(const Tensor& tensor);
/// Writes those bytes with write_file_atomically.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace lagtape
