#pragma once

#include <filesystem>
#include <string>

namespace lagtape {

/// A new folder that is removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// The number of its entries.
  int size() const;

 private:
  std::filesystem::path path_;
};

}  // namespace lagtape
