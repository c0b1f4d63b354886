#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "lagtape/core/error.h"

namespace lagtape {

/// Runs a reader on bytes. It may throw InputError, and nothing else.
template <class Read>
int try_on(const std::uint8_t* data, std::size_t size, Read read) {
  try {
    read(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const InputError&) {
  }
  return 0;
}

/// Ends the program, which the fuzzer reports with the input, unless something holds.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// A file in memory, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : file_(::memfd_create("fuzz", 0)) {
    require(file_ >= 0 && ::write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const { return text_of("/proc/self/fd/", file_); }

 private:
  int file_;
};

}  // namespace lagtape
