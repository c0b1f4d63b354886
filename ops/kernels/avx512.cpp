#include "lagtape/ops/kernels/tables.inc.h"

namespace lagtape {

template const Kernels<float>& compiled_kernels<float, SimdLevel::avx512>();
template const Kernels<double>& compiled_kernels<double, SimdLevel::avx512>();
template const Kernels<float>& compiled_bf16_emulation<float, SimdLevel::avx512>();
template const Kernels<double>& compiled_bf16_emulation<double, SimdLevel::avx512>();
template const Kernels<float>& compiled_int8_emulation<SimdLevel::avx512>();

}  // namespace lagtape
