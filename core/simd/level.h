#pragma once

#include <string_view>
#include <vector>

namespace lagtape {

/// The instruction sets that kernels are compiled for. `generic` is the compiler's baseline.
enum class SimdLevel { generic, avx2, avx512, neon };

std::string_view name_of(SimdLevel level);
bool is_supported(SimdLevel level);  ///< Whether this machine and build support it.
/// The default level: the value of the environment variable LAGTAPE_SIMD at the first call, else the highest
/// supported level. Throws InputError for a name that is unknown or not supported.
SimdLevel best_level();
/// The level with that name. Throws InputError if it is unknown or not supported.
SimdLevel level_named(std::string_view name);
std::vector<SimdLevel> supported_levels();  ///< In ascending order; never empty.

}  // namespace lagtape
