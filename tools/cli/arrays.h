#pragma once

#include <string>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape::cli {

/// Whether a number is finite, and stays so in that precision.
bool fits(double number, Dtype precision);

/// The numbers of a .npy or .csv file, or of lines on stdin ("-"); of lines below a header the columns of
/// those names, unless `names` is empty. Throws InputError naming the file for anything that is not [T,
/// width] or [B, T, width] with numbers that fit the precision.
Tensor read_sequences(const std::string& file, std::int64_t width, Dtype precision,
                      const std::vector<std::string>& names = {});

/// Writes a tensor as .npy, or as .csv or lines on stdout ("-"): a row a line, a single row for [q]. Throws
/// InputError.
void write_array(const std::string& file, const Tensor& array);

/// Throws InputError unless `file` is "-" or ends in .npy or .csv.
void check_ending(const std::string& file);

}  // namespace lagtape::cli
