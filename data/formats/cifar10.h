#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "lagtape/data/registry.h"
#include "lagtape/data/splits.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Images of CIFAR-10: 32 x 32 pixels in three channels.
class CifarImages {
 public:
  static constexpr std::int64_t kSide = 32, kPixels = kSide * kSide, kChannels = 3, kClasses = 10;
  static constexpr std::int64_t kRecord = 1 + kChannels * kPixels;

  /// Records as published: a label, then the bytes [3, 32, 32] of red, green and blue.
  explicit CifarImages(std::string records) : records_(std::move(records)) {}

  std::int64_t size() const { return static_cast<std::int64_t>(records_.size()) / kRecord; }
  std::int32_t label(std::int64_t image) const { return records_[static_cast<std::size_t>(image * kRecord)]; }
  /// [3, 32, 32]
  std::span<const std::uint8_t> pixels(std::int64_t image) const;

 private:
  std::string records_;
};

/// The images to learn from, in the order of their five files, and those to test with.
struct Cifar10 {
  CifarImages learning, testing;
};

/// Reads data_batch_1.bin .. data_batch_5.bin and test_batch.bin from a folder or an archive. Throws
/// InputError with path and file: one is missing, is there twice, is no whole number of records, has a label
/// above 9.
std::shared_ptr<const Cifar10> read_cifar10(const std::filesystem::path& path);

/// How many images train, validate and test, and where they are: options that all tasks of CIFAR-10 have.
struct CifarOptions {
  std::string path;
  std::int64_t train = 48000, valid = 2000, test = 10000;

  void read(JsonReader& reader);
};

/// Reads them, and splits the learning images at random by the experiment's seed. Throws InputError when
/// there are too few.
std::pair<std::shared_ptr<const Cifar10>, SplitIndices> load_cifar10(const CifarOptions& options,
                                                                     const TaskContext& context);

}  // namespace lagtape
