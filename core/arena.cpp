#include "lagtape/core/arena.h"

#include <algorithm>
#include <limits>

#include "lagtape/core/aligned_memory.h"
#include "lagtape/core/out_of_memory.h"

namespace lagtape {
namespace {

// Blocks grow with the arena, up to a size whose unused rest does not matter.
constexpr std::size_t kSmallestBlock = std::size_t{64} << 10;
constexpr std::size_t kLargestBlock = std::size_t{64} << 20;

}  // namespace

struct Arena::Block {
  AlignedMemory memory;
  std::size_t size = 0;
  std::size_t used = 0;  ///< bytes used when a later block is open
};

Arena::Arena() = default;
Arena::~Arena() = default;

void* Arena::allocate(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) {
    throw OutOfMemory(bytes);
  }
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  if (top_.block == blocks_.size() || blocks_[top_.block].size - top_.offset < size) open_block(size);
  void* memory = blocks_[top_.block].memory.get() + top_.offset;
  top_.offset += size;
  return memory;
}

void Arena::open_block(std::size_t size) {
  if (top_.offset > 0) {
    blocks_[top_.block].used = top_.offset;
    top_ = {top_.block + 1, 0};
  }
  // All blocks from here on are free: take one that is large enough, or make one.
  const auto here = blocks_.begin() + static_cast<std::ptrdiff_t>(top_.block);
  const auto fits = std::find_if(here, blocks_.end(), [&](const Block& block) { return block.size >= size; });
  if (fits != blocks_.end()) {
    std::iter_swap(here, fits);
    return;
  }
  std::size_t total = 0;
  for (const Block& block : blocks_) total += block.size;
  const std::size_t grown = std::max(size, std::clamp(total, kSmallestBlock, kLargestBlock));
  blocks_.insert(here, Block{allocate_aligned(grown), grown});
}

Arena::Mark Arena::mark() const { return top_; }

void Arena::rewind(Mark mark) { top_ = mark; }

std::size_t Arena::bytes_in_use() const {
  std::size_t bytes = top_.offset;
  for (std::size_t i = 0; i < top_.block; ++i) bytes += blocks_[i].used;
  return bytes;
}

}  // namespace lagtape
