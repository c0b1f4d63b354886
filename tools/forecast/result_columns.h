#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lagtape/core/tensor.h"
#include "lagtape/tools/train/files/npz.h"

namespace lagtape {

/// A column of a result table: texts, or numbers [rows], NaN if unknown.
struct ResultColumn {
  std::string name;
  std::variant<std::vector<std::string>, Tensor> cells;
};

/// The table with one of the endings .csv, .json (a list for each column, null for unknown values) and .npz (an
/// array for each column).
std::string file_of(const std::vector<ResultColumn>& columns, std::string_view ending);

// Each writes an array of an archive.

void write_array(NpzWriter& writer, const std::string& name, const std::vector<std::int64_t>& numbers,
                 const char* type = "<i8");
/// Texts are arrays of NumPy's fixed-length text type, with four bytes per character.
void write_array(NpzWriter& writer, const std::string& name, const std::vector<std::string>& texts);
void write_array(NpzWriter& writer, const std::string& name, const Tensor& numbers);

}  // namespace lagtape
