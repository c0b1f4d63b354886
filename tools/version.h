#pragma once

#include <cstdint>

namespace lagtape {

/// The project's version, as in CMakeLists.txt.
inline constexpr const char* kVersion = "0.1.0";

/// A number that increases whenever the same training gives different bits than before; results record it. 2:
/// tanh and sigmoid as rounded since 2026-11-22.
inline constexpr std::int64_t kArithmetic = 2;

}  // namespace lagtape
