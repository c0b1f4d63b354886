#pragma once

#include <filesystem>

#include "lagtape/data/task.h"
#include "lagtape/tools/train/files/array_writer.h"

namespace lagtape {

/// Writes the data of a task as arrays: SPLIT_x [N, T, input] and SPLIT_y ([N, output], [N, T,
/// output], or class numbers [N], [N, T]) for train, valid and test, in the task's own units; padded with
/// zeros (classes: -1) and with SPLIT_lengths [N] beside them where sequences differ in length. A training
/// set that never ends gives its first `fresh` sequences. Splits without sequences are omitted. Throws
/// InputError.
void write_data(ArrayWriter& writer, const Task& task, Dtype dtype, std::int64_t fresh, ThreadPool& pool);

/// The same into one .npz, atomically.
void export_data(const std::filesystem::path& file, const Task& task, Dtype dtype, std::int64_t fresh,
                 ThreadPool& pool);

}  // namespace lagtape
