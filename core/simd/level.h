#pragma once

#include <string_view>
#include <vector>

namespace lagtape {

/// The instruction sets that kernels are compiled for. `generic` is whatever the compiler's baseline has.
enum class SimdLevel { generic, avx2, avx512 };

std::string_view name_of(SimdLevel level);
bool is_supported(SimdLevel level);         ///< Whether this machine and build have it.
SimdLevel best_level();                     ///< The highest supported level.
std::vector<SimdLevel> supported_levels();  ///< In ascending order; never empty.

}  // namespace lagtape
