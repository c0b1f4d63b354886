#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Reads vectors of words as GloVe publishes them: a line a word, "word v1 v2 ... vN", with single spaces and
/// no header. N is what the first line has; in the others the last N fields are the numbers, as a word may
/// have spaces. `path` is such a text, plain or gzip, or an archive or folder that has one by the name
/// *.{N}d.txt, such as glove.6B.100d.txt. It goes by line by line, and is never in memory as a whole.
///
/// The vector of words[i] goes into row first + i of `table` [rows, N]; other rows stay as they are. Of a
/// word that is there twice, the first vector counts. Returns how many of the words are there. Throws
/// InputError "PATH: line L: ..." for another N than the table's, another number of fields than in the first
/// line, and what is no finite number; and when there is no such file or none of the words is in it.
std::int64_t read_word_vectors(const std::filesystem::path& path, std::span<const std::string> words,
                               std::int64_t first, Tensor& table);

}  // namespace lagtape
