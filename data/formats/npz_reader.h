#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// The arrays of an .npz file by name (NAME.npy inside it), as read_npy reads them, or those of a folder of .npy files, as
/// map_npy does. Throws InputError with path and name.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path);

}  // namespace lagtape
