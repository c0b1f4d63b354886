#pragma once

#include <string_view>
#include <vector>

namespace lagtape {

/// The instruction sets that kernels are compiled for. `generic` is whatever the compiler's baseline has.
enum class SimdLevel { generic, avx2, avx512, neon };

std::string_view name_of(SimdLevel level);
bool is_supported(SimdLevel level);  ///< Whether this machine and build have it.
/// The default level: the one that the environment variable LAGTAPE_SIMD
/// names when this is first called, else the highest supported one. Throws InputError for a name that is
/// unknown or not supported.
SimdLevel best_level();
/// The level of that name. Throws InputError for one that is unknown or not supported.
SimdLevel level_named(std::string_view name);
std::vector<SimdLevel> supported_levels();  ///< In ascending order; never empty.

}  // namespace lagtape
