#pragma once

#include <cstdint>
#include <exception>
#include <limits>

namespace lagtape::recurrence {

/// Thrown if a number of bytes does not fit in the 32 bits of an instruction. The emitters then stop, and the
/// interpreter runs the step.
struct OffsetTooLarge : std::exception {
  const char* what() const noexcept override { return "[jit] an offset does not fit 32 bits"; }
};

/// A number of bytes as a signed 32-bit number, for an instruction. Throws OffsetTooLarge.
inline std::int32_t code_offset(std::int64_t bytes) {
  if (bytes < std::numeric_limits<std::int32_t>::min() || bytes > std::numeric_limits<std::int32_t>::max())
    throw OffsetTooLarge();
  return static_cast<std::int32_t>(bytes);
}

/// The same number as an unsigned one, for the assembler: the processor sign-extends bit 31.
inline std::uint32_t code_immediate(std::int64_t bytes) {
  return static_cast<std::uint32_t>(code_offset(bytes));
}

}  // namespace lagtape::recurrence
