#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lagtape/core/error.h"

namespace lagtape::c {

// Argument checks for C functions; they throw InputError with the function's name.

inline void require(const void* pointer, const char* call, const char* what) {
  if (pointer == nullptr) throw InputError({.op = call}, Rule::missing, text_of(what, " is a null pointer"));
}

inline void require_at_least(std::int64_t least, std::int64_t given, const char* call, const char* what) {
  if (given < least)
    throw InputError({.op = call}, Rule::out_of_range, text_of(what, " must be at least ", least),
                     std::to_string(given));
}

/// rows * steps * width, or nothing if it exceeds 2^62.
inline std::optional<std::int64_t> product(std::int64_t rows, std::int64_t steps, std::int64_t width) {
  std::int64_t count = 0;
  if (__builtin_mul_overflow(rows, steps, &count) || __builtin_mul_overflow(count, width, &count) ||
      count > (std::int64_t{1} << 59))
    return std::nullopt;
  return count;
}

}  // namespace lagtape::c
