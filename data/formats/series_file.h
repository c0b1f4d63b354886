#pragma once

#include <filesystem>
#include <string>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Reads a .npy file, page by page as it is needed, or an array of an .npz file: `array`, or the only one if
/// that is empty. Arrays are [rows], [rows, columns] or [N, rows, columns]. Throws InputError with the path and
/// what was found.
Tensor read_series_file(const std::filesystem::path& path, const std::string& array);

}  // namespace lagtape
