#pragma once

#include <filesystem>

#include "lagtape/data/table/named_table.h"

namespace lagtape {

/// Whether a file is a text table by its name: .csv, .tsv, .txt or .tsf, also packed (.csv.gz).
bool is_table_file(const std::filesystem::path& path);

/// Whether a file is of series each in a line, named by their first attribute: .tsf, also packed.
bool is_tsf_file(const std::filesystem::path& path);

/// Reads a text table. Texts that are not UTF-8 are UTF-16, if they begin like it, else Windows-1252; a .tsf file is a long
/// table of its series. Throws InputError with the path.
NamedTable read_table_file(const std::filesystem::path& path, const TableOptions& options);

/// Throws InputError for files that only Python reads, with the line that makes a .csv file of them: .parquet, .xlsx, ...
void refuse_foreign_table(const std::filesystem::path& path);

}  // namespace lagtape
