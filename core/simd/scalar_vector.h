#pragma once

// A vector of one element, with the xsimd names that the kernels use. The functions of the scalar twin are the
// kernels' own formulas on it, so the two can be compared bit by bit.

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace lagtape {

template <class T>
struct ScalarVector {
  static constexpr int size = 1;
  T x;

  ScalarVector() = default;
  ScalarVector(T x) : x(x) {}
  static ScalarVector load_aligned(const T* p) { return *p; }
  void store_aligned(T* p) const { *p = x; }

  friend ScalarVector operator+(ScalarVector a, ScalarVector b) { return a.x + b.x; }
  friend ScalarVector operator-(ScalarVector a, ScalarVector b) { return a.x - b.x; }
  friend ScalarVector operator*(ScalarVector a, ScalarVector b) { return a.x * b.x; }
  friend ScalarVector operator/(ScalarVector a, ScalarVector b) { return a.x / b.x; }
  friend ScalarVector operator&(ScalarVector a, ScalarVector b) { return a.x & b.x; }
  friend ScalarVector operator|(ScalarVector a, ScalarVector b) { return a.x | b.x; }
  friend ScalarVector operator^(ScalarVector a, ScalarVector b) { return a.x ^ b.x; }
  friend ScalarVector operator<<(ScalarVector a, int n) { return a.x << n; }
  friend ScalarVector operator>>(ScalarVector a, int n) { return a.x >> n; }
  friend bool operator<(ScalarVector a, ScalarVector b) { return a.x < b.x; }
  friend bool operator<=(ScalarVector a, ScalarVector b) { return a.x <= b.x; }
  friend bool operator>(ScalarVector a, ScalarVector b) { return a.x > b.x; }
  friend bool operator>=(ScalarVector a, ScalarVector b) { return a.x >= b.x; }
  friend bool operator==(ScalarVector a, ScalarVector b) { return a.x == b.x; }
  friend bool operator!=(ScalarVector a, ScalarVector b) { return a.x != b.x; }
  friend ScalarVector select(bool which, ScalarVector a, ScalarVector b) { return which ? a : b; }
  friend ScalarVector min(ScalarVector a, ScalarVector b) { return a.x < b.x ? a : b; }
  friend ScalarVector max(ScalarVector a, ScalarVector b) { return a.x > b.x ? a : b; }
  friend ScalarVector abs(ScalarVector a) { return std::abs(a.x); }
  friend ScalarVector sqrt(ScalarVector a) { return std::sqrt(a.x); }
};

inline bool all(bool mask) { return mask; }

/// Counterpart of Simd<T, level>; `fused` selects the levels that it matches.
template <class T, bool fused>
struct ScalarSimd {
  using Scalar = T;
  using Vector = ScalarVector<T>;
  using Unsigned = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Bits = ScalarVector<Unsigned>;
  static constexpr int kSize = 1;
  static constexpr bool kFused = fused;

  static Bits bits(Vector a) { return std::bit_cast<Bits>(a); }
  static Vector value(Bits a) { return std::bit_cast<Vector>(a); }
  static Vector fma(Vector a, Vector b, Vector c) {
    return fused ? std::fma(a.x, b.x, c.x) : a.x * b.x + c.x;
  }
};

}  // namespace lagtape
