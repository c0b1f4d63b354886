#pragma once

// The vector of each SIMD level, for sources that are compiled for one level. Every template that uses these is
// a template on Simd<T, level>, so the level is part of each symbol's name, and the linker can never use code
// compiled for a wider machine in another source. For the same reason such sources use no standard containers
// or algorithms.

#include <cstdint>
#include <type_traits>
#include <xsimd/xsimd.hpp>

#include "lagtape/core/simd/level.h"

namespace lagtape {

/// xsimd's vectors of T for one instruction set. Bits: unsigned integers of the same width.
template <class T, class Arch>
struct XsimdVectors {
  using Scalar = T;
  using Vector = xsimd::batch<T, Arch>;
  using Unsigned = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Bits = xsimd::batch<Unsigned, Arch>;
  static constexpr int kSize = Vector::size;

  [[gnu::always_inline]] static inline Bits bits(Vector x) { return xsimd::bitwise_cast<Bits>(x); }
  [[gnu::always_inline]] static inline Vector value(Bits x) { return xsimd::bitwise_cast<Vector>(x); }

#if defined(__aarch64__)
  // On ARM, xsimd 8.1 only estimates float quotients and roots.
  [[gnu::always_inline]] static inline Vector divide(Vector a, Vector b) {
    if constexpr (std::is_same_v<T, float>) {
      return vdivq_f32(a, b);
    } else {
      return vdivq_f64(a, b);
    }
  }
  [[gnu::always_inline]] static inline Vector sqrt(Vector x) {
    if constexpr (std::is_same_v<T, float>) {
      return vsqrtq_f32(x);
    } else {
      return vsqrtq_f64(x);
    }
  }
#endif
};

/// The functions that kernels need in addition to a vector's operators, including fma(a, b, c) = a * b + c,
/// rounded once where kFused.
template <class T, SimdLevel level>
struct Simd;

template <class T>
struct Simd<T, SimdLevel::generic> : XsimdVectors<T, xsimd::default_arch> {
  using typename XsimdVectors<T, xsimd::default_arch>::Vector;
  static constexpr bool kFused = false;
  static constexpr int kRegisters = 16;
  [[gnu::always_inline]] static inline Vector fma(Vector a, Vector b, Vector c) { return a * b + c; }
};

#if defined(__AVX2__) && defined(__FMA__)

template <class T>
struct Simd<T, SimdLevel::avx2> : XsimdVectors<T, xsimd::avx2> {
  using typename XsimdVectors<T, xsimd::avx2>::Vector;
  static constexpr bool kFused = true;
  static constexpr int kRegisters = 16;
  [[gnu::always_inline]] static inline Vector fma(Vector a, Vector b, Vector c) {
    if constexpr (std::is_same_v<T, float>) {
      return _mm256_fmadd_ps(a, b, c);
    } else {
      return _mm256_fmadd_pd(a, b, c);
    }
  }
};

#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__)

template <class T>
struct Simd<T, SimdLevel::avx512> : XsimdVectors<T, xsimd::avx512dq> {
  using typename XsimdVectors<T, xsimd::avx512dq>::Vector;
  static constexpr bool kFused = true;
  static constexpr int kRegisters = 32;
  [[gnu::always_inline]] static inline Vector fma(Vector a, Vector b, Vector c) {
    if constexpr (std::is_same_v<T, float>) {
      return _mm512_fmadd_ps(a, b, c);
    } else {
      return _mm512_fmadd_pd(a, b, c);
    }
  }
};

#endif

#if defined(__aarch64__)

template <class T>
struct Simd<T, SimdLevel::neon> : XsimdVectors<T, xsimd::neon64> {
  using typename XsimdVectors<T, xsimd::neon64>::Vector;
  static constexpr bool kFused = true;
  static constexpr int kRegisters = 32;
  [[gnu::always_inline]] static inline Vector fma(Vector a, Vector b, Vector c) {
    if constexpr (std::is_same_v<T, float>) {
      return vfmaq_f32(c, a, b);
    } else {
      return vfmaq_f64(c, a, b);
    }
  }
};

#endif

}  // namespace lagtape
