#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace lagtape {

/// The bytes of a file. Only pages that are read are loaded, and the system drops them when memory is short.
/// The file must not change meanwhile.
class MappedFile {
 public:
  /// Throws InputError for a file that cannot be read.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(memory_), size_}; }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lagtape
