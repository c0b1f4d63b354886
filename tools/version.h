#pragma once

namespace lagtape {

/// The project's version, as in CMakeLists.txt.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace lagtape
