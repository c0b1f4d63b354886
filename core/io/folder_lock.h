#pragma once

#include <filesystem>
#include <optional>
#include <utility>

namespace lagtape {

/// Keeps other locks, of this process or another, from a folder until it is destroyed or the process ends, in any way.
/// Locks nothing where there is no such folder or its file system has no locks.
class FolderLock {
 public:
  /// Waits until no other lock holds the folder.
  explicit FolderLock(const std::filesystem::path& folder);
  /// Locks at once; empty when another lock holds the folder.
  static std::optional<FolderLock> at_once(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace lagtape
