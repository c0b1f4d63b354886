// Quantized products by the instruction for sums of four products of bytes (int8.h).

#include <immintrin.h>

#include <cstring>

#include "lagtape/core/simd/vector.h"
#include "lagtape/ops/kernels/int8.inc.h"
#include "lagtape/ops/kernels/tables.h"

namespace lagtape {
namespace {

constexpr int kNotFinite = 0x99;  // both kinds of NaN, both infinities

struct Int8Vectors {
  __m512i sum = _mm512_setzero_si512();

  [[gnu::always_inline]] void add(const std::uint8_t* operand, const std::int8_t* weights) {
    int quad;
    std::memcpy(&quad, operand, sizeof quad);
    sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi32(quad), _mm512_load_si512(weights));
  }
  [[gnu::always_inline]] void store(float* out, const std::int32_t* corrections, const float* scales,
                                    bool is_nan) const {
    const __m512i corrected = _mm512_add_epi32(sum, _mm512_load_si512(corrections));
    const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(corrected), _mm512_load_ps(scales));
    _mm512_store_ps(out, is_nan ? _mm512_set1_ps(__builtin_nanf("")) : scaled);
  }
  static bool quantize(std::uint8_t* to, const float* from, std::int64_t k, float inverse_scale) {
    __mmask16 not_finite = 0;
    for (std::int64_t e = 0; e < k; e += kLane<float>) {
      const std::int64_t n = k - e;
      const auto mask = static_cast<__mmask16>(n >= kLane<float> ? 0xFFFF : (1U << n) - 1);
      const __m512 x = _mm512_maskz_loadu_ps(mask, from + e);
      not_finite |= _mm512_fpclass_ps_mask(x, kNotFinite);
      const __m512 within = _mm512_max_ps(
          _mm512_min_ps(_mm512_mul_ps(x, _mm512_set1_ps(inverse_scale)), _mm512_set1_ps(kInt8Most)),
          _mm512_set1_ps(-kInt8Most));
      const __m512i rounded = _mm512_add_epi32(_mm512_cvtps_epi32(within), _mm512_set1_epi32(128));
      _mm512_mask_cvtepi32_storeu_epi8(to + e, mask, rounded);
    }
    return not_finite != 0;
  }
};

Kernels<float> make_table() {
  Kernels<float> table = compiled_kernels<float, SimdLevel::avx512>();
  fill_int8_products<Simd<float, SimdLevel::avx512>, Int8Vectors>(table);
  return table;
}

}  // namespace

const Kernels<float>& int8_instruction_kernels() {
  static const Kernels<float> table = make_table();
  return table;
}

}  // namespace lagtape
