// Products in bf16 with the instruction that defines them (bf16.inc.h).

#include <immintrin.h>

#include <cstring>

#include "lagtape/core/simd/vector.h"
#include "lagtape/ops/kernels/bf16.inc.h"
#include "lagtape/ops/kernels/tables.h"

namespace lagtape {
namespace {

/// Vectors in which each slot is a pair of bf16 numbers, or a sum.
struct PairVectors : Simd<float, SimdLevel::avx512> {
  [[gnu::always_inline]] static inline Vector fma(Vector a, Vector b, Vector c) {
    return _mm512_dpbf16_ps(c, (__m512bh)(__m512)b, (__m512bh)(__m512)a);
  }
};

/// A slot is a pair, its first element in the lower half.
struct Bf16Pairs {
  using T = float;
  using Simd = PairVectors;
  struct Mode {};  // the instruction ignores the mode
  static constexpr std::int64_t kRowsOfPair = 1;
  static constexpr bool kSavedAreSlots = true;

  static constexpr std::int64_t slots(std::int64_t k) { return (k + 1) / 2; }

  static __m512 loaded(const float* from, std::int64_t n) {
    if (n >= 16) return _mm512_loadu_ps(from);
    return n <= 0 ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << n) - 1), from);
  }

  static void put(float* slots, std::int64_t stride, std::int64_t e, float value) {
    float& slot = slots[e / 2 * stride];
    const auto rounded =
        std::bit_cast<std::uint32_t>(round_to_bf16<lagtape::Simd<float, SimdLevel::avx512>>(value));
    slot = std::bit_cast<float>(e % 2 == 0 ? rounded >> 16 : std::bit_cast<std::uint32_t>(slot) | rounded);
  }

  /// Writes whole vectors, up to one vector beyond the elements.
  static void copy_row(float* slots, std::int64_t first, const float* from, std::int64_t k) {
    if (first % 2 != 0) {
      for (std::int64_t e = 0; e < k; ++e) put(slots, 1, first + e, from[e]);
      return;
    }
    float* to = slots + first / 2;
    std::int64_t e = 0;
    for (; e + 32 <= k; e += 32, to += 16) {
      const auto both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + e + 16), _mm512_loadu_ps(from + e));
      _mm512_storeu_ps(to, (__m512)both);
    }
    if (e == k) return;
    if (k - e == 16) return _mm256_storeu_ps(to, (__m256)_mm512_cvtneps_pbh(_mm512_loadu_ps(from + e)));
    const auto rest = _mm512_cvtne2ps_pbh(loaded(from + e + 16, k - e - 16), loaded(from + e, k - e));
    _mm512_storeu_ps(to, (__m512)rest);
  }

  static void copy_row(float* slots, std::int64_t first, const std::uint16_t* from, std::int64_t k) {
    if (first % 2 == 0) {
      std::memcpy(slots + first / 2, from, static_cast<std::size_t>(k) * sizeof *from);
      if (k % 2 != 0) put(slots, 1, first + k - 1, rounded_number<Simd>(from[k - 1]));
      return;
    }
    for (std::int64_t e = 0; e < k; ++e) put(slots, 1, first + e, rounded_number<Simd>(from[e]));
  }

  /// Operands of one vector per row, for which copy_row would take longer than the product.
  static bool copy_vectors(float* slots, std::int64_t stride, const Product<float>& product,
                           std::int64_t first_row, std::int64_t rows) {
    for (std::int64_t o = 0; o < product.operand_count; ++o)
      if (product.operands[o].k != 16 || product.operands[o].rounded) return false;
    for (std::int64_t o = 0; o < product.operand_count; ++o, slots += 8) {
      const std::int64_t lda = product.operands[o].lda;
      const float* from = product.operands[o].a + first_row * lda;
      float* to = slots;
      for (std::int64_t r = 0; r < rows; ++r, from += lda, to += stride)
        _mm256_storeu_ps(to, (__m256)_mm512_cvtneps_pbh(_mm512_loadu_ps(from)));
    }
    return true;
  }

  static __m256i loaded(const std::uint16_t* from, std::int64_t n) {
    if (n >= 16) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return n <= 0 ? _mm256_setzero_si256()
                  : _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1U << n) - 1), from);
  }

  /// The rounded numbers of `first`, then those of `second`.
  static __m512i both(__m512 first, __m512 second) { return (__m512i)_mm512_cvtne2ps_pbh(second, first); }
  static __m512i both(__m256i first, __m256i second) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1);
  }

  /// Columns of two rows in pairs.
  template <class Element>
  static void pair_columns(float* slots, const Element* first, const Element* second, std::int64_t n,
                           std::int64_t n_second) {
    alignas(64) static constexpr std::uint16_t order[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                            21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                            11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    const __m512i rows = both(loaded(first, n), loaded(second, n_second));
    _mm512_store_si512(slots, _mm512_permutexvar_epi16(_mm512_load_si512(order), rows));
  }

  /// Rows are in the third-level cache or beyond it, so they are prefetched.
  template <class Element>
  static void pair_rows(float* slots, std::int64_t stride, const Element* from, std::int64_t ld,
                        std::int64_t rows, std::int64_t n) {
    constexpr std::int64_t kAhead = 8, kLine = 64 / sizeof(Element);
    for (; rows > 1; rows -= 2, from += 2 * ld, slots += stride) {
      for (std::int64_t j = 0; j < n; j += kLine) {
        __builtin_prefetch(from + kAhead * ld + j);
        __builtin_prefetch(from + (kAhead + 1) * ld + j);
      }
      std::int64_t j = 0;
      for (; j + 16 <= n; j += 16) pair_columns(slots + j, from + j, from + ld + j, 16, 16);
      if (j < n) pair_columns(slots + j, from + j, from + ld + j, n - j, n - j);
    }
    if (rows == 0) return;
    for (std::int64_t j = 0; j < n; j += 16) pair_columns(slots + j, from + j, from, n - j, 0);
  }
};

Kernels<float> make_table() {
  Kernels<float> table = compiled_kernels<float, SimdLevel::avx512>();
  fill_bf16_products<Bf16Pairs>(table);
  return table;
}

}  // namespace

const Kernels<float>& bf16_instruction_kernels() {
  static const Kernels<float> table = make_table();
  return table;
}

}  // namespace lagtape
