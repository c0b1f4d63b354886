#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "lagtape/ops/kernels/kernel_table.h"

namespace lagtape {

// Numbers rounded to the eight significant bits of bf16, to nearest, ties to even. Subnormal numbers become
// zeros with their sign. In f64 the exponent is unchanged.

/// The bits of bf16 in a scalar's format.
template <class T>
struct Bf16Format {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int kDigits = sizeof(T) == 4 ? 23 : 52;
  static constexpr int kDropped = kDigits - 7;
  static constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  static constexpr Bits kLow = (Bits{1} << kDropped) - 1;
  static constexpr Bits kInfinity = (kSign - 1) >> kDigits << kDigits;
  static constexpr Bits kQuiet = Bits{1} << (kDigits - 1);  ///< distinguishes quiet NaNs
};

template <class S>
inline typename S::Scalar round_to_bf16(typename S::Scalar x) {
  using F = Bf16Format<typename S::Scalar>;
  using Bits = typename F::Bits;
  const Bits bits = std::bit_cast<Bits>(x), magnitude = bits & ~F::kSign;
  const Bits rounded = (bits + (F::kLow >> 1) + (bits >> F::kDropped & 1)) & ~F::kLow;
  const Bits number = magnitude < (Bits{1} << F::kDigits) ? bits & F::kSign : rounded;
  return std::bit_cast<typename S::Scalar>(
      magnitude > F::kInfinity ? (bits | F::kInfinity | F::kQuiet) & ~F::kLow : number);
}

/// The same for a vector.
template <class S>
inline typename S::Vector vector_rounded_to_bf16(typename S::Vector x) {
  using V = typename S::Vector;
  using B = typename S::Bits;
  using F = Bf16Format<typename S::Scalar>;
  const B bits = S::bits(x);
  const B up = bits + B(F::kLow >> 1) + ((bits >> F::kDropped) & B(typename F::Bits{1}));
  const V rounded = S::value(up & B(~F::kLow)), zero = S::value(bits & B(F::kSign));
  const V number = select(abs(x) < V(std::numeric_limits<typename S::Scalar>::min()), zero, rounded);
  return select(x == x, number, S::value((bits | B(F::kQuiet)) & B(~F::kLow)));
}

/// The plain loops are left to the compiler. S keeps their code separate from that of other levels.
template <class S>
void save_rounded(SavedElement<typename S::Scalar>* out, const typename S::Scalar* a, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto rounded = round_to_bf16<S>(a[i]);
    if constexpr (sizeof(rounded) == 4)
      out[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded) >> 16);
    else
      out[i] = rounded;
  }
}

template <class S>
void restore_rounded(typename S::Scalar* out, const SavedElement<typename S::Scalar>* a, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof(*out) == 4)
      out[i] = std::bit_cast<float>(static_cast<std::uint32_t>(a[i]) << 16);
    else
      out[i] = a[i];
  }
}

}  // namespace lagtape
