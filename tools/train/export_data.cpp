#include "lagtape/tools/train/export_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/tools/train/files/npz.h"

namespace lagtape {

namespace {

constexpr std::int64_t kBlock = 256;  // sequences gathered at a time

/// Writes one array of a split: `piece` gives the bytes of a batch, padded to the length of the longest
/// sequence.
template <class Piece>
void write_array(ArrayWriter& writer, const Dataset& split, std::int64_t count, Dtype dtype, ThreadPool& pool,
                 const Piece& piece) {
  for (std::int64_t first = 0; first < count; first += kBlock) {
    std::vector<std::int64_t> indices;
    for (std::int64_t i = first; i < std::min(first + kBlock, count); ++i) indices.push_back(i);
    const std::string bytes = piece(gather(split, indices, dtype, pool));
    writer.write(bytes.data(), bytes.size());
  }
}

/// Rows of `steps` elements of `size` bytes each, padded to `longest` elements by repeating `padding`.
std::string padded(const void* data, std::int64_t rows, std::int64_t steps, std::int64_t longest,
                   std::size_t size, char padding) {
  std::string bytes(rows * longest * size, padding);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::memcpy(bytes.data() + row * longest * size, static_cast<const char*>(data) + row * steps * size,
                steps * size);
  }
  return bytes;
}

/// Refuses arrays of a split that do not fit into the memory, or are nearly all padding.
void check_size(const std::string& name, const Dataset& split, std::int64_t count, Dtype dtype) {
  constexpr double kLarge = 4.0 * (1 << 30), kLeastFull = 0.1;
  constexpr std::int64_t kMostSeen = 10'000'000;
  const DataShape& shape = split.shape();
  const std::int64_t numbers =
      shape.input + (shape.every_step ? std::max<std::int64_t>(shape.output, 1) : 0);  // of a step
  const double bytes = static_cast<double>(count) * static_cast<double>(shape.length) *
                       static_cast<double>(numbers * static_cast<std::int64_t>(byte_size(dtype)));
  if (bytes <= kLarge) return;
  const std::int64_t seen = std::min(count, kMostSeen);
  double steps = 0;
  for (std::int64_t i = 0; i < seen; ++i) steps += static_cast<double>(split.length(i));
  const double full = steps / static_cast<double>(seen) / static_cast<double>(shape.length);
  if (bytes <= static_cast<double>(system_memory()) && full >= kLeastFull) return;
  throw InputError(
      {.item = name}, Rule::no_memory,
      text_of("the arrays would take ", bytes_of(static_cast<std::int64_t>(std::min(bytes, 9e18))), ": ",
              count, " sequences of ", numbers, numbers == 1 ? " number" : " numbers", " at each of ",
              shape.length, " steps, the length of the longest; ", std::floor(1000 * (1 - full)) / 10,
              " % of that is padding"),
      {}, "Take fewer sequences, or leave out the longest.");
}

void write_split(ArrayWriter& writer, const std::string& name, const Dataset& split, std::int64_t count,
                 Dtype dtype, ThreadPool& pool) {
  const DataShape& shape = split.shape();
  const std::string real = dtype == Dtype::f32 ? "<f4" : "<f8";
  const std::size_t item = byte_size(dtype);
  const std::int64_t longest = shape.length;

  writer.begin(name + "_x", real, {count, longest, shape.input});
  write_array(writer, split, count, dtype, pool, [&](const Batch& batch) {
    return padded(batch.x.raw(), batch.size(), batch.x.size(1), longest, shape.input * item, 0);
  });

  const bool classes = shape.classes > 0;
  Shape targets = shape.every_step ? Shape{count, longest} : Shape{count};
  if (!classes) targets.push_back(shape.output);
  writer.begin(name + "_y", classes ? "<i4" : real, targets);
  write_array(writer, split, count, dtype, pool, [&](const Batch& batch) {
    const void* data = classes ? static_cast<const void*>(batch.classes.data()) : batch.y.raw();
    const std::size_t size = classes ? sizeof(std::int32_t) : shape.output * item;
    const std::int64_t steps = shape.every_step ? batch.x.size(1) : 1;
    return padded(data, batch.size(), steps, shape.every_step ? longest : 1, size, classes ? '\xff' : '\0');
  });

  std::vector<std::int32_t> lengths;
  for (std::int64_t i = 0; i < count; ++i) lengths.push_back(static_cast<std::int32_t>(split.length(i)));
  if (std::all_of(lengths.begin(), lengths.end(), [&](std::int32_t length) { return length == longest; }))
    return;
  writer.begin(name + "_lengths", "<i4", {count});
  writer.write(lengths.data(), lengths.size() * sizeof(std::int32_t));
}

}  // namespace

void write_data(ArrayWriter& writer, const Task& task, Dtype dtype, std::int64_t fresh, ThreadPool& pool) {
  const auto count = [&](const Dataset& split) {
    return split.size() == Dataset::kUnlimited ? fresh : split.size();
  };
  constexpr const char* kSplits[] = {"train", "valid", "test"};
  for (const char* name : kSplits) check_size(name, task.split(name), count(task.split(name)), dtype);
  for (const char* name : kSplits) {
    const Dataset& split = task.split(name);
    if (count(split) > 0) write_split(writer, name, split, count(split), dtype, pool);
  }
}

void export_data(const std::filesystem::path& file, const Task& task, Dtype dtype, std::int64_t fresh,
                 ThreadPool& pool) {
  NpzWriter writer;
  write_data(writer, task, dtype, fresh, pool);
  write_file_atomically(file, writer.finish());
}

}  // namespace lagtape
