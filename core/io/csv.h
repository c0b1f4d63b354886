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
  Tensor values;                    ///< [rows, columns]; f64 when it was read
};

/// Numbers separated by commas, one row per line, all rows of equal length; blanks around a number, empty
/// lines, a byte-order mark and CRLF are allowed. A first line without any number is the header. Throws
/// InputError "WHERE: line L, column C: ..." (C counts fields from 1) for a field that is no finite number,
/// for a row of another length, and when there is no row.
Csv parse_csv(std::string_view text, const std::string& where);
Csv read_csv(const std::filesystem::path& path);

/// The number of the column of that name. Throws InputError, `where` in front, with the nearest name when
/// there is none, and when there are several.
std::int64_t column_named(const std::string& name, const std::vector<std::string>& header,
                          const std::string& where);

/// The text that reads back to the same values (of an f32 tensor, after rounding to f32): the shortest digits
/// that do so, one row per line. Throws InputError unless `values` is [rows, columns], not empty and finite,
/// and the header, if any, has a plain name for each column.
std::string serialize_csv(const Csv& csv);
/// Writes that text with write_file_atomically.
void write_csv(const std::filesystem::path& path, const Csv& csv);

}  // namespace lagtape
