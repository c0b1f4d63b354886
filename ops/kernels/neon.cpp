#include "lagtape/ops/kernels/tables.inc.h"

namespace lagtape {

template const Kernels<float>& compiled_kernels<float, SimdLevel::neon>();
template const Kernels<double>& compiled_kernels<double, SimdLevel::neon>();
template const Kernels<float>& compiled_bf16_emulation<float, SimdLevel::neon>();
template const Kernels<double>& compiled_bf16_emulation<double, SimdLevel::neon>();
template const Kernels<float>& compiled_int8_emulation<SimdLevel::neon>();

}  // namespace lagtape
