#pragma once

#include <filesystem>

#include "lagtape/data/task.h"
#include "lagtape/tools/train/files/array_writer.h"

namespace lagtape {

/// Writes the data of a task as arrays: SPLIT_x [N, T, input] and SPLIT_y ([N, output], [N, T, output], or
/// class numbers [N], [N, T]) for train, valid and test, in the task's own units; padded with zeros (classes:
/// -1) and accompanied by SPLIT_lengths [N] if sequences differ in length. For an endless training set, its
/// first `fresh` sequences are written. Splits without sequences are omitted. Throws InputError.
void write_data(ArrayWriter& writer, const Task& task, Dtype dtype, std::int64_t fresh, ThreadPool& pool);

/// The same into one .npz, atomically.
void export_data(const std::filesystem::path& file, const Task& task, Dtype dtype, std::int64_t fresh,
                 ThreadPool& pool);

}  // namespace lagtape
