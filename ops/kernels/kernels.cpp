#include "lagtape/ops/kernels/kernels.h"

#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/tables.h"

namespace lagtape {
namespace {

void check_supported(SimdLevel level) {
  if (is_supported(level)) return;
  throw InputError({.op = "kernels"}, Rule::not_supported,
                   text_of("This machine has no SIMD level '", name_of(level), "'. The best it has is '",
                           name_of(best_level()), "'."));
}

}  // namespace

template <class T>
const Kernels<T>& kernels(SimdLevel level) {
  check_supported(level);
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return compiled_kernels<T, SimdLevel::avx512>();
  if (level == SimdLevel::avx2) return compiled_kernels<T, SimdLevel::avx2>();
#elif defined(__aarch64__)
  if (level == SimdLevel::neon) return compiled_kernels<T, SimdLevel::neon>();
#endif
  return compiled_kernels<T, SimdLevel::generic>();
}

template <class T>
const Kernels<T>& bf16_emulation(SimdLevel level) {
  check_supported(level);
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return compiled_bf16_emulation<T, SimdLevel::avx512>();
  if (level == SimdLevel::avx2) return compiled_bf16_emulation<T, SimdLevel::avx2>();
#elif defined(__aarch64__)
  if (level == SimdLevel::neon) return compiled_bf16_emulation<T, SimdLevel::neon>();
#endif
  return compiled_bf16_emulation<T, SimdLevel::generic>();
}

const Kernels<float>& int8_emulation(SimdLevel level) {
  check_supported(level);
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return compiled_int8_emulation<SimdLevel::avx512>();
  if (level == SimdLevel::avx2) return compiled_int8_emulation<SimdLevel::avx2>();
#elif defined(__aarch64__)
  if (level == SimdLevel::neon) return compiled_int8_emulation<SimdLevel::neon>();
#endif
  return compiled_int8_emulation<SimdLevel::generic>();
}

#if defined(__x86_64__)
bool has_bf16_instruction() {
  return is_supported(SimdLevel::avx512) && __builtin_cpu_supports("avx512bf16");
}
bool has_int8_instruction() {
  return is_supported(SimdLevel::avx512) && __builtin_cpu_supports("avx512vnni");
}
#else
bool has_bf16_instruction() { return false; }
bool has_int8_instruction() { return false; }
#endif

namespace {

template <class T>
const Kernels<T>& int8_kernels(SimdLevel level) {
  if constexpr (sizeof(T) == 8) {
    throw InputError({.op = "kernels"}, Rule::not_supported, "int8 is for f32", "f64");
  } else {
#if defined(__x86_64__)
    if (level == SimdLevel::avx512 && has_int8_instruction()) return int8_instruction_kernels();
#endif
    return int8_emulation(level);
  }
}

}  // namespace

template <class T>
const Kernels<T>& kernels(SimdLevel level, ProductFormat products) {
  if (products == ProductFormat::scalar) return kernels<T>(level);
  if (products == ProductFormat::int8) return int8_kernels<T>(level);
#if defined(__x86_64__)
  if constexpr (sizeof(T) == 4) {
    if (level == SimdLevel::avx512 && has_bf16_instruction()) return bf16_instruction_kernels();
  }
#endif
  return bf16_emulation<T>(level);
}

template const Kernels<float>& kernels(SimdLevel);
template const Kernels<double>& kernels(SimdLevel);
template const Kernels<float>& kernels(SimdLevel, ProductFormat);
template const Kernels<double>& kernels(SimdLevel, ProductFormat);
template const Kernels<float>& bf16_emulation(SimdLevel);
template const Kernels<double>& bf16_emulation(SimdLevel);

}  // namespace lagtape
