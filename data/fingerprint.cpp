#include "lagtape/data/fingerprint.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "lagtape/core/hash.h"

namespace lagtape {

namespace {

/// The bytes of numbers as a text.
template <class T>
std::string_view bytes_of_values(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t next) {
  return (std::rotl(hash, 5) ^ next) * 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio
}

}  // namespace

std::uint64_t fingerprint(const Dataset& dataset, ThreadPool& pool) {
  constexpr std::int64_t kMostSequences = 256, kMostNumbers = 1 << 22;
  const DataShape& shape = dataset.shape();
  const std::int64_t size = dataset.size(), numbers = shape.length * (shape.input + shape.output);
  const std::int64_t chosen = std::min(
      size, std::clamp<std::int64_t>(kMostNumbers / std::max<std::int64_t>(numbers, 1), 1, kMostSequences));
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(size), static_cast<std::uint64_t>(shape.length));
  for (std::int64_t i = 0; i < chosen; ++i) {
    const std::int64_t index = chosen == 1 ? 0 : i * (size - 1) / (chosen - 1);
    const Batch sequence = gather(dataset, std::span(&index, 1), Dtype::f64, pool);
    hash = mixed(hash, static_cast<std::uint64_t>(sequence.lengths[0]));
    hash = mixed(hash, fnv1a(bytes_of_values<double>(sequence.x.values<double>())));
    if (!sequence.y.empty()) hash = mixed(hash, fnv1a(bytes_of_values<double>(sequence.y.values<double>())));
    hash = mixed(hash, fnv1a(bytes_of_values<std::int32_t>(sequence.classes)));
  }
  return hash;
}

}  // namespace lagtape
