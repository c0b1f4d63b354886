#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Reads word vectors in the format of GloVe: a line a word, "word v1 v2 ... vN", with single spaces and
/// without a header. The first line determines N; in the other lines the last N fields are the numbers, since
/// a word may contain spaces. `path` is such a text, plain or gzip, or an archive or folder that contains one
/// by the name *.{N}d.txt, such as glove.6B.100d.txt. The text is read line by line, and is never in memory
/// as a whole.
///
/// The vector of words[i] goes into row first + i of `table` [rows, N]; other rows stay as they are. If a
/// word occurs twice, its first vector counts. Returns how many of the words were found. Throws InputError
/// "PATH: line L: ..." when N is not that of the table, when a line has another number of fields than the
/// first, for anything but a finite number, when there is no such file, and when it contains none of the
/// words.
std::int64_t read_word_vectors(const std::filesystem::path& path, std::span<const std::string> words,
                               std::int64_t first, Tensor& table);

}  // namespace lagtape
