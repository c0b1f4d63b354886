#pragma once

#include <filesystem>
#include <optional>
#include <utility>

namespace lagtape {

/// Keeps other locks, of this process or another, off a folder until it is destroyed or the process ends for
/// any reason. Locks nothing if the folder does not exist or its file system does not support locks.
class FolderLock {
 public:
  /// Waits until no other lock holds the folder.
  explicit FolderLock(const std::filesystem::path& folder);
  /// Locks without waiting; empty if another lock holds the folder.
  static std::optional<FolderLock> at_once(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace lagtape
