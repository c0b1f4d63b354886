#pragma once

#include <cstddef>
#include <vector>

namespace lagtape {

/// Memory handed out in order and given back in bulk: `mark` remembers a position, `rewind` frees all that was
/// allocated after it. Blocks are 64-byte aligned and kept for reuse; nothing is returned to the system before
/// destruction.
class Arena {
 public:
  struct Mark {
    std::size_t block = 0;
    std::size_t offset = 0;
  };

  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Uninitialized memory of that many bytes, 64-byte aligned.
  void* allocate(std::size_t bytes);
  Mark mark() const;
  void rewind(Mark mark);
  std::size_t bytes_in_use() const;

 private:
  struct Block;
  void open_block(std::size_t size);
  std::vector<Block> blocks_;
  Mark top_;
};

}  // namespace lagtape
