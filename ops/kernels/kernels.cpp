#include "lagtape/ops/kernels/kernels.h"

#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/tables.h"

namespace lagtape {

template <class T>
const Kernels<T>& kernels(SimdLevel level) {
  if (!is_supported(level)) {
    throw InputError(text_of("[kernels] This machine has no SIMD level '", name_of(level),
                             "'. The best it has is '", name_of(best_level()), "'."));
  }
#if defined(__x86_64__)
  if (level == SimdLevel::avx512) return compiled_kernels<T, SimdLevel::avx512>();
  if (level == SimdLevel::avx2) return compiled_kernels<T, SimdLevel::avx2>();
#endif
  return compiled_kernels<T, SimdLevel::generic>();
}

template const Kernels<float>& kernels(SimdLevel);
template const Kernels<double>& kernels(SimdLevel);

}  // namespace lagtape
