#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// A user's own time series: N series of equal length with the same columns.
struct SeriesFile {
  std::vector<std::string> names;  ///< names of the columns; empty when the file has none
  Tensor values;                   ///< [N, rows, columns], finite; f32 or f64 like the file
};

/// Reads a .csv file (a row a step), a .npy file, or an array of an .npz file: the one named `array`, or the
/// only one when `array` is empty. Arrays are [rows], [rows, columns] or [N, rows, columns]. Throws
/// InputError with the path and what was found.
SeriesFile read_series_file(const std::filesystem::path& path, const std::string& array);

}  // namespace lagtape
