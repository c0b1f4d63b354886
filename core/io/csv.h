#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// A table of numbers.
struct Csv {
  std::vector<std::string> header;  ///< names of the columns; empty when the file has none
  Tensor values;                    ///< [rows, columns], f64
};

/// Numbers separated by commas, a row a line, every row of equal length; blanks around a number, empty lines,
/// a byte-order mark and CRLF are allowed. A first line with a field that is no number is the header. Throws
/// InputError "WHERE: line L, column C: ..." (C counts fields from 1) for a field that is not a finite
/// number, and for a row of another length.
Csv parse_csv(std::string_view text, const std::string& where);
Csv read_csv(const std::filesystem::path& path);

/// The text that reads back to the same values: the shortest digits that round-trip, a row a line.
/// Throws InputError unless `values` is [rows, columns] and the header, if any, has a name a column.
std::string serialize_csv(const Csv& csv);
/// Writes it with write_file_atomically.
void write_csv(const std::filesystem::path& path, const Csv& csv);

}  // namespace lagtape
