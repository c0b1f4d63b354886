#pragma once

#include <string>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape::cli {

/// Whether a number is finite in a precision.
bool fits(double number, Dtype precision);

/// Reads the numbers of a .npy or .csv file, or from lines on stdin ("-"). If there is a header, it reads the
/// columns `names`, or all if that is empty. A .npy array [B, width, T] is transposed, with a note, if only
/// that order fits, or, with `channels_first`, if both do. Throws InputError with the file's name for anything
/// but [T, width] or [B, T, width] with numbers that are finite in the precision or, for a model that reads
/// tokens (`tokens` > 0), are 0..tokens - 1.
Tensor read_sequences(const std::string& file, std::int64_t width, Dtype precision, std::int64_t tokens,
                      const std::vector<std::string>& names = {}, bool channels_first = false);

/// Whether a number is one of the tokens 0..tokens - 1.
bool is_token(double value, std::int64_t tokens);

/// Writes a tensor as .npy, as .csv, or as lines on stdout ("-"): one line per row, or a single line for [q].
/// Throws InputError.
void write_array(const std::string& file, const Tensor& array);

/// Throws InputError unless `file` is "-" or ends in .npy or .csv.
void check_ending(const std::string& file);

}  // namespace lagtape::cli
