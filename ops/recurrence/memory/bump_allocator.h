#pragma once

#include <cstdint>

#include "lagtape/ops/kernels/kernels.h"

namespace lagtape::recurrence {

/// Hands out 64-byte aligned parts of one memory block; without a block, it only counts them.
template <class T>
class BumpAllocator {
 public:
  explicit BumpAllocator(T* base = nullptr) : base_(base) {}
  T* take(std::int64_t elements) {
    T* part = base_ == nullptr ? nullptr : base_ + used_;
    used_ += padded<T>(elements);
    return part;
  }
  std::int64_t used() const { return used_; }

 private:
  T* base_;
  std::int64_t used_ = 0;
};

}  // namespace lagtape::recurrence
