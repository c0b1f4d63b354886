#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// A table of numbers.
struct Csv {
  std::vector<std::string> header;  ///< names of the columns; empty if the file has none
  Tensor values;                    ///< [rows, columns]; f64 after reading
};

/// Finite numbers separated by commas, one row per line, as TextTable and NamedTable read them. With `wanted`,
/// only the columns with those names, in that order, unless the file has no names; `wanted_by` names their
/// source in messages. Throws InputError "WHERE: line L, column C: ..." (C counts cells from 1).
Csv parse_csv(std::string text, const std::string& where, const std::vector<std::string>& wanted = {},
              const std::string& wanted_by = "");
Csv read_csv(const std::filesystem::path& path);

/// The text that reads back to the same values (for an f32 tensor, after rounding to f32): the shortest such
/// digits, one row per line. Throws InputError unless `values` is [rows, columns], nonempty and finite, and the
/// header, if any, has a plain name for each column.
std::string serialize_csv(const Csv& csv);
/// Writes that text with write_file_atomically.
void write_csv(const std::filesystem::path& path, const Csv& csv);

/// A .csv cell: the text, in quotes if it contains a comma, a quote or a line break (RFC 4180).
std::string csv_cell(std::string_view text);

/// The shortest digits that read back to the number, in the tensor's precision.
std::string csv_cell(const Tensor& numbers, std::int64_t index);

}  // namespace lagtape
