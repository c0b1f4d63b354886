#pragma once

#include <filesystem>

#include "lagtape/data/table/named_table.h"

namespace lagtape {

/// Whether a file is a text table, judging by its name: .csv, .tsv, .txt or .tsf, even if compressed (.csv.gz).
bool is_table_file(const std::filesystem::path& path);

/// Whether a file has one series per line, named by their first attribute: .tsf, even if compressed.
bool is_tsf_file(const std::filesystem::path& path);

/// Reads a text table. Texts that are not UTF-8 are read as UTF-16 if they start like it, else as Windows-1252;
/// a .tsf file becomes a long table of its series. Throws InputError with the path.
NamedTable read_table_file(const std::filesystem::path& path, const TableOptions& options);

/// Throws InputError for files that only Python can read (.parquet, .xlsx, ...), with the line that converts
/// them to .csv.
void refuse_foreign_table(const std::filesystem::path& path);

}  // namespace lagtape
