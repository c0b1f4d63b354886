#pragma once

#include <cstdint>
#include <optional>

#include "lagtape/core/error.h"

namespace lagtape::c {

// Checks of what the caller of a C function gives; they throw InputError with the function's name.

inline void require(const void* pointer, const char* call, const char* what) {
  if (pointer == nullptr) throw InputError(text_of("[", call, "] ", what, " is a null pointer"));
}

inline void require_at_least(std::int64_t least, std::int64_t given, const char* call, const char* what) {
  if (given < least)
    throw InputError(text_of("[", call, "] ", what, " must be at least ", least, ". Got ", given));
}

/// rows * steps * width; nothing when that is beyond 2^62.
inline std::optional<std::int64_t> product(std::int64_t rows, std::int64_t steps, std::int64_t width) {
  std::int64_t count = 0;
  if (__builtin_mul_overflow(rows, steps, &count) || __builtin_mul_overflow(count, width, &count) ||
      count > (std::int64_t{1} << 59))
    return std::nullopt;
  return count;
}

}  // namespace lagtape::c
