#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace lagtape {

/// CIFAR-10 images: 32 x 32 pixels in three channels.
class CifarImages {
 public:
  static constexpr std::int64_t kSide = 32, kPixels = kSide * kSide, kChannels = 3, kClasses = 10;
  static constexpr std::int64_t kRecord = 1 + kChannels * kPixels;

  /// The records as in the published files: a label, then the bytes [3, 32, 32] of red, green and blue.
  explicit CifarImages(std::string records) : records_(std::move(records)) {}

  std::int64_t size() const { return static_cast<std::int64_t>(records_.size()) / kRecord; }
  std::int32_t label(std::int64_t image) const { return records_[static_cast<std::size_t>(image * kRecord)]; }
  /// The bytes [3, 32, 32] of an image.
  std::span<const std::uint8_t> pixels(std::int64_t image) const;

 private:
  std::string records_;
};

/// The training images, in the order of their five files, and the test images.
struct Cifar10 {
  CifarImages learning, testing;
};

/// Reads data_batch_1.bin .. data_batch_5.bin and test_batch.bin from a folder or an archive. Throws InputError
/// with the path and the file's name if one is missing or duplicated, is not a whole number of records, or
/// contains a label above 9.
std::shared_ptr<const Cifar10> read_cifar10(const std::filesystem::path& path);

}  // namespace lagtape
