#include "lagtape/core/simd/level.h"

#include <cstdlib>
#include <string>

#include "lagtape/core/error.h"

namespace lagtape {

std::string_view name_of(SimdLevel level) {
  switch (level) {
    case SimdLevel::avx2: return "avx2";
    case SimdLevel::avx512: return "avx512";
    case SimdLevel::neon: return "neon";
    default: return "generic";
  }
}

#if defined(__x86_64__)

// The compiler's test also checks whether the operating system saves the registers.
bool is_supported(SimdLevel level) {
  __builtin_cpu_init();
  switch (level) {
    case SimdLevel::generic: return true;
    case SimdLevel::avx2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case SimdLevel::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             is_supported(SimdLevel::avx2);
    case SimdLevel::neon: return false;
  }
  return false;
}

#elif defined(__aarch64__)

// Every processor of this kind has it.
bool is_supported(SimdLevel level) { return level == SimdLevel::generic || level == SimdLevel::neon; }

#else

bool is_supported(SimdLevel level) { return level == SimdLevel::generic; }

#endif

std::vector<SimdLevel> supported_levels() {
  std::vector<SimdLevel> levels;
  for (SimdLevel level : {SimdLevel::generic, SimdLevel::avx2, SimdLevel::avx512, SimdLevel::neon}) {
    if (is_supported(level)) levels.push_back(level);
  }
  return levels;
}

SimdLevel level_named(std::string_view name) {
  std::vector<std::string> names;
  for (SimdLevel level : supported_levels()) {
    if (name == name_of(level)) return level;
    names.emplace_back(name_of(level));
  }
  throw InputError(unknown_name("SIMD level of this machine", name, names));
}

namespace {

SimdLevel chosen_level() {
  const char* name = std::getenv("LAGTAPE_SIMD");
  if (name == nullptr || *name == '\0') return supported_levels().back();
  try {
    return level_named(name);
  } catch (const InputError& error) {
    throw error.within({.item = "LAGTAPE_SIMD"});
  }
}

}  // namespace

SimdLevel best_level() {
  static const SimdLevel level = chosen_level();
  return level;
}

}  // namespace lagtape
