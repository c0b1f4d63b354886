#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "lagtape/core/tensor.h"

namespace lagtape {

/// Reads word vectors in GloVe format: one word per line, "word v1 v2 ... vN", with single spaces and no
/// header. The first line determines N; in the other lines the last N fields are the numbers, since a word may
/// contain spaces. `path` is such a text, plain or gzip, or an archive or folder that contains one named
/// *.{N}d.txt, such as glove.6B.100d.txt. The text is read line by line, never held in memory as a whole.
///
/// The vector of words[i] goes into row first + i of `table` [rows, N]; other rows are unchanged. If a word
/// occurs twice, its first vector counts. Returns how many of the words were found. Throws InputError "PATH:
/// line L: ..." if N differs from the table's width, if a line has a different number of fields than the first,
/// for anything but a finite number, if there is no such file, and if it contains none of the words.
std::int64_t read_word_vectors(const std::filesystem::path& path, std::span<const std::string> words,
                               std::int64_t first, Tensor& table);

}  // namespace lagtape
