#pragma once

// Elementary functions on the vectors of core/simd, accurate to about 2 units in the last place. Every level
// does the same operations in the same order; a level without fused multiply-add rounds more often. Polynomials
// are minimax fits (Remez) on the reduced ranges; range reductions subtract multiples of constants that are
// short enough for exact products, or use fused multiply-adds.

#include <array>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace lagtape::vector_math {

/// c[0] + c[1] x + c[2] x^2 ...
template <class S, class Coefficients>
[[gnu::always_inline]] inline typename S::Vector polynomial(typename S::Vector x, const Coefficients& c) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  V sum(static_cast<T>(*std::rbegin(c)));
#pragma GCC unroll 16
  for (auto i = static_cast<int>(std::size(c)) - 2; i >= 0; --i)
    sum = S::fma(sum, x, V(static_cast<T>(c[static_cast<std::size_t>(i)])));
  return sum;
}

template <class S>
[[gnu::always_inline]] inline typename S::Bits sign_bit() {
  return S::bits(typename S::Vector(static_cast<typename S::Scalar>(-0.0)));
}

template <class S>
[[gnu::always_inline]] inline typename S::Vector negate(typename S::Vector x) {
  return S::value(S::bits(x) ^ sign_bit<S>());
}

template <class S>
[[gnu::always_inline]] inline typename S::Vector abs(typename S::Vector x) {
  return abs(x);
}

/// The square root, rounded once: S has its own version if its vectors only have an estimate.
template <class S>
[[gnu::always_inline]] inline typename S::Vector sqrt(typename S::Vector x) {
  if constexpr (requires { S::sqrt(x); }) {
    return S::sqrt(x);
  } else {
    return sqrt(x);
  }
}

/// The quotient, rounded once, likewise.
template <class S>
[[gnu::always_inline]] inline typename S::Vector divide(typename S::Vector a, typename S::Vector b) {
  if constexpr (requires { S::divide(a, b); }) {
    return S::divide(a, b);
  } else {
    return a / b;
  }
}

/// -|x|
template <class S>
[[gnu::always_inline]] inline typename S::Vector negative_magnitude(typename S::Vector x) {
  return S::value(S::bits(x) | sign_bit<S>());
}

/// `magnitude`, which is not negative, with the sign of `sign`.
template <class S>
[[gnu::always_inline]] inline typename S::Vector with_sign(typename S::Vector magnitude,
                                                           typename S::Vector sign) {
  return S::value(S::bits(magnitude) | (S::bits(sign) & sign_bit<S>()));
}

template <class T>
struct Format;

template <>
struct Format<float> {
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr float kRounder = 0x1.8p23f;  ///< Adding it leaves an integer in the low bits.
};

template <>
struct Format<double> {
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kRounder = 0x1.8p52;
};

/// The largest whole number not above x. Magnitudes of 2^mantissa or more are whole; adding that number to the
/// others rounds them.
template <class S>
[[gnu::always_inline]] inline typename S::Vector floor(typename S::Vector x) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  const V whole(static_cast<T>(Format<T>::kRounder / T(1.5)));
  const V magnitude = abs<S>(x);
  const V rounded = with_sign<S>((magnitude + whole) - whole, x);
  const V below = select(rounded > x, rounded - V(T(1)), rounded);
  return select(magnitude < whole, below, x);
}

// ---- Exponential family -------------------------------------------------------------------------------
// exp, sigmoid and tanh share one reduction of their argument.

/// For f = 1 or 2: f x = n ln 2 + f r with |f r| <= (ln 2) / 2, and e^(f x) = 2^n (1 + f q).
template <class V>
struct Reduced {
  V shifted;  ///< n + bias + kRounder: the low bits hold the exponent field of 2^n.
  V n;
  V q;  ///< (e^(f r) - 1) / f
};

/// Coefficients of (e^r - 1 - r) / r^2 as those of (e^(f r) - 1 - f r) / (f r^2).
template <int f, std::size_t size>
constexpr std::array<double, size> scaled(std::array<double, size> c) {
  double power = f;
  for (double& one : c) {
    one *= power;
    power *= f;
  }
  return c;
}

/// Which terms of a float get the lost part of n ln 2 added. (In double it is added everywhere.)
enum class Reduction : std::uint8_t {
  nowhere,       ///< r is too small by 1.9e-9 n
  largest_term,  ///< in only the largest term of q, which is added last
  everywhere,
};

template <class S, int f = 1, Reduction reduction = Reduction::everywhere>
[[gnu::always_inline]] inline Reduced<typename S::Vector> reduce_exponential(typename S::Vector x) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr T rounder = Format<T>::kRounder + Format<T>::kBias;
  Reduced<V> reduced;
  reduced.shifted = S::fma(x, V(static_cast<T>(f * 0x1.71547652b82fep+0)), V(rounder));
  reduced.n = reduced.shifted - V(rounder);
  if constexpr (is_float) {
    // The product with all of a float is exact only in a fused multiply-add.
    constexpr bool in_parts =
        reduction == Reduction::everywhere || (reduction == Reduction::largest_term && !S::kFused);
    V r = S::fma(reduced.n, V((in_parts ? -0x1.62e4p-1f : -0x1.62e43p-1f) / f), x);
    if constexpr (in_parts) r = S::fma(reduced.n, V(-0x1.7f7d1cp-20f / f), r);
    V largest = r;
    if constexpr (reduction == Reduction::largest_term && !in_parts)
      largest = S::fma(reduced.n, V(0x1.05c61p-29f / f), r);
    constexpr auto c = scaled<f>(std::array{0x1.fffffede3d071p-2, 0x1.5554b19610768p-3, 0x1.55565dca8567ap-5,
                                            0x1.1226aed2fe734p-7, 0x1.6bfbddbaf17e5p-10});
    const V square = r * r;
    const V low = S::fma(r, V(static_cast<T>(c[1])), V(static_cast<T>(c[0])));
    const V high = S::fma(r, V(static_cast<T>(c[3])), V(static_cast<T>(c[2])));
    const V highest(static_cast<T>(c[4]));
    reduced.q = S::fma(square, S::fma(square, S::fma(square, highest, high), low), largest);
  } else {
    const V r =
        S::fma(reduced.n, V(-0x1.a39ef35793c76p-33 / f), S::fma(reduced.n, V(-0x1.62e42feep-1 / f), x));
    constexpr auto c = scaled<f>(
        std::array{0x1p-1, 0x1.5555555555559p-3, 0x1.5555555555541p-5, 0x1.111111110f770p-7,
                   0x1.6c16c16c1e6e2p-10, 0x1.a01a01afa027dp-13, 0x1.a01a017e2e0b3p-16, 0x1.71ddf8f21e98cp-19,
                   0x1.27e531c814826p-22, 0x1.af5dc0c315f84p-26, 0x1.1eee881a73ae5p-29});
    reduced.q = S::fma(r * r, polynomial<S>(r, c), r);
  }
  return reduced;
}

/// 2^n, for normal results.
template <class S>
[[gnu::always_inline]] inline typename S::Vector power_of_two(typename S::Vector shifted) {
  return S::value(S::bits(shifted) << Format<typename S::Scalar>::kMantissa);
}

/// e^x; results below the normal numbers are rounded twice.
template <class S>
[[gnu::always_inline]] inline typename S::Vector exp(typename S::Vector x) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  constexpr T highest = std::is_same_v<T, float> ? 89 : 710;
  constexpr T lowest = std::is_same_v<T, float> ? -104 : -746;
  const V bounded = max(V(lowest), min(V(highest), x));
  const auto reduced = reduce_exponential<S>(bounded);
  // 2^n in two factors, because n may exceed the exponents of normal numbers.
  constexpr T rounder = Format<T>::kRounder + Format<T>::kBias;
  const V half = S::fma(reduced.n, V(T(0.5)), V(rounder));
  const V rest = (reduced.n - (half - V(rounder))) + V(rounder);
  return S::fma(power_of_two<S>(half), reduced.q, power_of_two<S>(half)) * power_of_two<S>(rest);
}

/// With e = e^-|x|: 1 / (1 + e) for x >= 0, e / (1 + e) for x < 0; results below the normal numbers are zero.
template <class S>
[[gnu::always_inline]] inline typename S::Vector sigmoid(typename S::Vector x) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  // At the bound the exponent field is zero, and so is e.
  constexpr T bound = std::is_same_v<T, float> ? -88 : -709;
  const auto reduced =
      reduce_exponential<S, 1, Reduction::largest_term>(max(V(bound), negative_magnitude<S>(x)));
  const V scale = power_of_two<S>(reduced.shifted);
  const V e = S::fma(scale, reduced.q, scale);
  const V one(T(1));
  return divide<S>(select(x < V(T(0)), e, one), one + e);
}

/// h / (h + 1) with h = (e^(2|x|) - 1) / 2, which keeps its relative accuracy near zero; and the sign of x.
template <class S>
[[gnu::always_inline]] inline typename S::Vector tanh(typename S::Vector x) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  constexpr T bound = std::is_same_v<T, float> ? 10 : 20;
  const auto reduced = reduce_exponential<S, 2, Reduction::nowhere>(min(V(bound), abs(x)));
  const V scale = power_of_two<S>(reduced.shifted);
  const V h = S::fma(scale, reduced.q, S::fma(scale, V(T(0.5)), V(T(-0.5))));
  return with_sign<S>(divide<S>(h, h + V(T(1))), x);
}

// ---- Error function ---------------------------------------------------------------------------------------
// Both polynomials are interpolated at Chebyshev nodes, to within a tenth of a unit in the last place of the result.

/// Below 1, the odd series x P(x^2). Above 1, 1 - e^(-x^2) Q(t) with t = (x - k) / (x + k), where Q is e^(x^2)
/// erfc(x), which is smooth; from the bound on, the result is 1.
template <class S>
[[gnu::always_inline]] inline typename S::Vector erf(typename S::Vector x) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  constexpr bool is_float = std::is_same_v<T, float>;
  const V one(T(1)), k(static_cast<T>(is_float ? 2 : 2.5));
  const V magnitude = min(V(static_cast<T>(is_float ? 4 : 6)), abs<S>(x));
  const V square = magnitude * magnitude;
  const V t = divide<S>(magnitude - k, magnitude + k);
  V p, q;
  if constexpr (is_float) {
    constexpr double c[] = {0x1.20dd74fece720p+0,  -0x1.81273e7a02443p-2, 0x1.ce2d10ed44e09p-4,
                            -0x1.b7faba961c85ap-6, 0x1.541270c79ca2cp-8,  -0x1.a45087f1a200ap-11,
                            0x1.4a5690869d13fp-14};
    constexpr double d[] = {0x1.058671b52c776p-2,  -0x1.b5703e7d75cd5p-2, 0x1.eeea7ec2e6509p-3,
                            -0x1.43744543d7062p-4, 0x1.e9359d4846097p-9,  0x1.be5ff81c8a57fp-8,
                            -0x1.b75728d526aefp-11};
    p = polynomial<S>(square, c);
    q = polynomial<S>(t, d);
  } else {
    constexpr double c[] = {0x1.20dd750429b6dp+0,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b30p-4,
                            -0x1.b82ce31284e00p-6,  0x1.565bcd0dbaa38p-8,   -0x1.c02db3dac435fp-11,
                            0x1.f9a321d5b8e1ep-14,  -0x1.f4d1e3183f7aep-17, 0x1.b9df224ca4b97p-20,
                            -0x1.5f1ecb6f0764cp-23, 0x1.f7b4bf3b13964p-27,  -0x1.389d4f2641625p-30,
                            0x1.05ffd737fb32ep-34};
    constexpr double d[] = {0x1.afbb3f3b7343bp-3,   -0x1.7ca88dec2179fp-2,  0x1.01c11a735cd90p-2,
                            -0x1.0011543717910p-3,  0x1.470ba1f67a1a9p-5,   -0x1.05bb2fdf6af31p-8,
                            -0x1.5a5716b1b771fp-9,  0x1.cb3b5c1d1aec7p-11,  0x1.def28f2749997p-13,
                            -0x1.0e4525f30bfc3p-13, -0x1.1eafcc284801bp-15, 0x1.38006c5e8491ep-16,
                            0x1.f74c7792ffaecp-18,  -0x1.2bb032d568ee0p-19, -0x1.aa2d5ed17d342p-20};
    p = polynomial<S>(square, c);
    q = polynomial<S>(t, d);
  }
  const V below = magnitude * p, above = one - exp<S>(negate<S>(square)) * q;
  return with_sign<S>(select(magnitude < one, below, above), x);
}

// ---- Logarithm --------------------------------------------------------------------------------------------
// The argument is reduced to [sqrt(1/2), sqrt(2)).

/// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), s = f / (2 + f):
/// log(1 + f) = f - (f^2/2 - s (f^2/2 + R(s^2))), as in FreeBSD's msun.
template <class S>
[[gnu::always_inline]] inline typename S::Vector log(typename S::Vector x) {
  using V = typename S::Vector;
  using B = typename S::Bits;
  using T = typename S::Scalar;
  using U = typename S::Unsigned;
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr int mantissa = Format<T>::kMantissa;
  constexpr T two_to_mantissa = Format<T>::kRounder / T(1.5);
  constexpr T smallest_normal = is_float ? 0x1p-126 : 0x1p-1022;
  constexpr U root_half = static_cast<U>(is_float ? 0x3f3504f3 : 0x3fe6a09e667f3bcd);
  constexpr U bias = U(Format<T>::kBias) << mantissa;

  const auto is_tiny = x < V(smallest_normal);
  const V scaled = select(is_tiny, x * V(two_to_mantissa), x);
  const B shifted = S::bits(scaled) - B(root_half) + B(bias);
  const V k = S::value((shifted >> mantissa) | S::bits(V(two_to_mantissa))) -
              select(is_tiny, V(two_to_mantissa + Format<T>::kBias + mantissa),
                     V(two_to_mantissa + Format<T>::kBias));
  const V f = S::value((shifted & B((U(1) << mantissa) - 1)) + B(root_half)) - V(T(1));
  const V s = divide<S>(f, f + V(T(2)));
  const V z = s * s;
  V r;
  if constexpr (is_float) {
    constexpr double c[] = {0x1.55557a41d82b9p-1, 0x1.995e98ddba295p-2, 0x1.31e6ebe9d8b7cp-2};
    r = z * polynomial<S>(z, c);
  } else {
    constexpr double c[] = {0x1.5555555555593p-1, 0x1.999999997fbfcp-2, 0x1.24924942110aep-2,
                            0x1.c71c51eab03dep-3, 0x1.74664607ddf1dp-3, 0x1.39a0effb7e867p-3,
                            0x1.2f0e0bba30f35p-3};
    r = z * polynomial<S>(z, c);
  }
  const V half_square = V(T(0.5)) * f * f;
  const V high(static_cast<T>(is_float ? 0x1.62e4p-1 : 0x1.62e42feep-1));
  const V low(static_cast<T>(is_float ? 0x1.7f7d1cf79abcap-20 : 0x1.a39ef35793c76p-33));
  const V correction = half_square - S::fma(s, half_square + r, k * low);
  const V result = S::fma(k, high, f - correction);

  const V infinity(static_cast<T>(__builtin_inf()));
  const V otherwise = select(x == V(T(0)), negate<S>(infinity), V(static_cast<T>(__builtin_nan(""))));
  return select(x > V(T(0)), select(x == infinity, x, result), otherwise);
}

// ---- Sine and cosine --------------------------------------------------------------------------------------
// Both reduce their argument to a quadrant.

/// x = n pi/2 + r; the quadrant is n + shift, where shift is 0 for the sine and 1 for the cosine.
template <class S, int shift>
[[gnu::always_inline]] inline typename S::Vector sine_by_quadrant(typename S::Vector x) {
  using V = typename S::Vector;
  using B = typename S::Bits;
  using T = typename S::Scalar;
  using U = typename S::Unsigned;
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr int sign_position = 8 * sizeof(T) - 1;
  const V rounder(Format<T>::kRounder);
  const V shifted = S::fma(x, V(static_cast<T>(0x1.45f306dc9c883p-1)), rounder);
  const V n = shifted - rounder;
  V r;
  if constexpr (is_float) {
    r = S::fma(n, V(-0x1.92p+0f), x);
    r = S::fma(n, V(-0x1.fb4p-12f), r);
    r = S::fma(n, V(-0x1.444p-24f), r);
    r = S::fma(n, V(-0x1.68c234p-39f), r);
  } else {
    r = S::fma(n, V(-0x1.921fb544p+0), x);
    r = S::fma(n, V(-0x1.0b4611a6p-34), r);
    r = S::fma(n, V(-0x1.3198a2e0p-69), r);
    r = S::fma(n, V(-0x1.b839a252049c1p-104), r);
  }
  const V z = r * r;
  V sine, cosine;
  if constexpr (is_float) {
    constexpr double s[] = {-0x1.5555458f4e634p-3, 0x1.11075bf6df874p-7, -0x1.994d21eb879dep-13};
    constexpr double c[] = {0x1.55554aaf4e9d1p-5, -0x1.6c0c884666929p-10, 0x1.9a013c9dd0242p-16};
    sine = S::fma(z * r, polynomial<S>(z, s), r);
    cosine = S::fma(z * z, polynomial<S>(z, c), S::fma(z, V(T(-0.5)), V(T(1))));
  } else {
    constexpr double s[] = {-0x1.5555555555549p-3, 0x1.111111110f869p-7,   -0x1.a01a019c0f1f2p-13,
                            0x1.71de357556194p-19, -0x1.ae5e6438650a0p-26, 0x1.5d926285d9a54p-33};
    constexpr double c[] = {0x1.555555555554cp-5,   -0x1.6c16c16c15199p-10, 0x1.a01a019cb396dp-16,
                            -0x1.27e4f80acff76p-22, 0x1.1ee9ec40dfd9fp-29,  -0x1.8faeae789eaaap-37};
    sine = S::fma(z * r, polynomial<S>(z, s), r);
    cosine = S::fma(z * z, polynomial<S>(z, c), S::fma(z, V(T(-0.5)), V(T(1))));
  }
  const B quadrant = S::bits(shifted) + B(U(shift));
  const V odd = S::value((quadrant & B(U(1))) << (sign_position - 1));  // 0 or 2
  const B sign = (quadrant & B(U(2))) << (sign_position - 1);
  return S::value(S::bits(select(odd > V(T(0)), cosine, sine)) ^ sign);
}

template <class T, int shift>
[[gnu::always_inline]] inline T library_sine(T x) {
  if constexpr (std::is_same_v<T, float>) {
    return shift == 0 ? __builtin_sinf(x) : __builtin_cosf(x);
  } else {
    return shift == 0 ? __builtin_sin(x) : __builtin_cos(x);
  }
}

/// Elements too large for the reduction, and those that are not finite, are left to the C library.
template <class S, int shift>
[[gnu::always_inline]] inline typename S::Vector sine(typename S::Vector x) {
  using V = typename S::Vector;
  using T = typename S::Scalar;
  constexpr T bound = std::is_same_v<T, float> ? 1e4 : 1e6;
  V y = sine_by_quadrant<S, shift>(x);
  if (all(abs(x) <= V(bound))) return y;
  alignas(64) T in[S::kSize];
  alignas(64) T out[S::kSize];
  x.store_aligned(in);
  y.store_aligned(out);
  for (int i = 0; i < S::kSize; ++i) {
    if (!(__builtin_fabs(in[i]) <= bound)) out[i] = library_sine<T, shift>(in[i]);
  }
  return V::load_aligned(out);
}

template <class S>
[[gnu::always_inline]] inline typename S::Vector sin(typename S::Vector x) {
  return sine<S, 0>(x);
}

template <class S>
[[gnu::always_inline]] inline typename S::Vector cos(typename S::Vector x) {
  return sine<S, 1>(x);
}

}  // namespace lagtape::vector_math
