#include "lagtape/data/formats/cifar10.h"

#include <array>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/data/formats/file_tree.h"

namespace lagtape {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kImagesOfFile = 10000;
constexpr std::array kFiles = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                               "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

/// The index of the file that matches the end of a path.
std::optional<std::size_t> file_of(std::string_view name) {
  const std::string_view last = name.substr(name.find_last_of('/') + 1);
  for (std::size_t i = 0; i < kFiles.size(); ++i) {
    if (last == kFiles[i]) return i;
  }
  return {};
}

void check_records(const std::string& bytes, const std::string& where) {
  constexpr std::size_t kRecord = CifarImages::kRecord;
  if (bytes.empty() || bytes.size() % kRecord != 0) {
    throw unexpected({where}, Rule::damaged,
                     text_of("a multiple of ", kRecord, " bytes, one record an image"),
                     text_of(bytes.size()));
  }
  for (std::size_t at = 0; at < bytes.size(); at += kRecord) {
    const int label = static_cast<unsigned char>(bytes[at]);
    if (label < CifarImages::kClasses) continue;
    throw unexpected({.file = where, .item = text_of("label of image ", at / kRecord)}, Rule::out_of_range,
                     "0..9", text_of(label));
  }
}

}  // namespace

std::span<const std::uint8_t> CifarImages::pixels(std::int64_t image) const {
  return {reinterpret_cast<const std::uint8_t*>(records_.data()) + image * kRecord + 1, kRecord - 1};
}

std::shared_ptr<const Cifar10> read_cifar10(const fs::path& path) {
  std::array<std::string, kFiles.size()> files;
  const FileWish wish{.wanted = [](std::string_view name) { return file_of(name).has_value(); },
                      .largest = kImagesOfFile * CifarImages::kRecord};
  read_files(path, wish, [&](const std::string& name, std::string bytes) {
    std::string& file = files[*file_of(name)];
    if (!file.empty()) throw InputError({place_of(path, name)}, Rule::conflict, "occurs twice.");
    check_records(bytes, place_of(path, name));
    file = std::move(bytes);
  });
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i].empty()) continue;
    throw InputError({place_of(path, kFiles[i])}, Rule::missing,
                     "no such file. CIFAR-10 is data_batch_1.bin to data_batch_5.bin and test_batch.bin in "
                     "the folder or archive data.path.");
  }
  std::string learning = std::move(files[0]);
  for (std::size_t i = 1; i + 1 < files.size(); ++i) {
    learning += files[i];
    files[i] = {};
  }
  return std::make_shared<Cifar10>(
      Cifar10{CifarImages(std::move(learning)), CifarImages(std::move(files.back()))});
}

}  // namespace lagtape
