#include "lagtape/core/simd/level.h"

namespace lagtape {

std::string_view name_of(SimdLevel level) {
  switch (level) {
    case SimdLevel::avx2: return "avx2";
    case SimdLevel::avx512: return "avx512";
    default: return "generic";
  }
}

#if defined(__x86_64__)

// The compiler's test includes whether the operating system saves the registers.
bool is_supported(SimdLevel level) {
  __builtin_cpu_init();
  switch (level) {
    case SimdLevel::generic: return true;
    case SimdLevel::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case SimdLevel::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             is_supported(SimdLevel::avx2);
  }
  return false;
}

#else

bool is_supported(SimdLevel level) { return level == SimdLevel::generic; }

#endif

std::vector<SimdLevel> supported_levels() {
  std::vector<SimdLevel> levels;
  for (SimdLevel level : {SimdLevel::generic, SimdLevel::avx2, SimdLevel::avx512}) {
    if (is_supported(level)) levels.push_back(level);
  }
  return levels;
}

SimdLevel best_level() { return supported_levels().back(); }

}  // namespace lagtape
