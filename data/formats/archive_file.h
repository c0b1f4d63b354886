#pragma once

#include <filesystem>

#include "lagtape/data/formats/archive_sequences.h"

namespace lagtape {

/// Reads a file and appends its sequences to those already in `data`: .ts, .arff or, for other endings, .tsv.
/// Throws InputError as the format's reader does, and for a file that cannot be opened.
void read_archive_file(const std::filesystem::path& path, const ArchiveOptions& options, ArchiveData& data);

}  // namespace lagtape
