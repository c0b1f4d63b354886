#include "lagtape/tools/exchange/export/c99/c_helpers.h"

#include <string_view>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// A function in C. In its text $N is the name of the model, $T the scalar, $F the suffix of its functions and
/// numbers, $W the type of matrices and $C a cast from it, $A the whole numbers of vectors, $M the largest of them and $D the sum
/// of their products.
struct Helper {
  std::string_view name, text;
};

constexpr Helper kHelpers[] = {
    {"copy", R"(
static void $N_copy($T *to, const $T *from, int n) {
  for (int i = 0; i < n; ++i) to[i] = from[i];
}
)"},
    {"dot", R"(
/* The sum of w[j] * x[j], in four parts, so that additions need not wait for each other. */
static $T $N_dot(const $W *w, const $T *x, int n) {
  $T a = 0, b = 0, c = 0, d = 0;
  const int fours = n - n % 4;
  for (int j = 0; j < fours; j += 4) {
    a += $Cw[j] * x[j];
    b += $Cw[j + 1] * x[j + 1];
    c += $Cw[j + 2] * x[j + 2];
    d += $Cw[j + 3] * x[j + 3];
  }
  for (int j = fours; j < n; ++j) a += $Cw[j] * x[j];
  return (a + b) + (c + d);
}
)"},
    {"whole", R"(
/* Rounds n numbers to whole ones, of which $M is the largest, and gives what one of them is worth. */
static $T $N_whole($A *to, const $T *x, int n) {
  $T largest = 0, finite = 0;
  for (int j = 0; j < n; ++j) {
    const $T size = x[j] < 0 ? -x[j] : x[j];
    if (size > largest) largest = size;
    finite += x[j] - x[j];
  }
  const $T steps = largest > 1e-30$F && finite == 0 ? $M / largest : 0;
  for (int j = 0; j < n; ++j) {
    const $T value = steps > 0 ? steps * x[j] : 0;
    to[j] = ($A)(value < 0 ? value - 0.5$F : value + 0.5$F);
  }
  return finite == 0 ? largest / $M : ($T)NAN;
}
)"},
    {"whole_dot", R"(
/* The sum of w[j] * x[j] in whole numbers. As a function of its own it has the registers for it. */
#ifdef __GNUC__
__attribute__((noinline))
#endif
static $T $N_whole_dot(const $W *w, const $A *x, int n) {
$D}
)"},
    {"sum", R"(
static $T $N_sum(const $T *x, int n) {
  $T sum = 0;
  for (int j = 0; j < n; ++j) sum += x[j];
  return sum;
}
)"},
    {"fast_tanh", R"(
/* A quotient of polynomials, fitted for the smallest largest error. */
static $T $N_tanh($T x) {
  if (x > 7.3$F) x = 7.3$F;
  if (x < -7.3$F) x = -7.3$F;
  const $T u = x * x;
  const $T p = 0.999994151$F + u * (0.122626992$F + u * (2.24207142e-3$F + u * 3.76797023e-6$F));
  const $T q = 1.0$F + u * (0.455940701$F + u * (2.09084409e-2$F + u * 1.38586668e-4$F));
  return x * p / q;
}
)"},
    {"fast_sigmoid", R"(
static $T $N_sigmoid($T x) { return 0.5$F + 0.5$F * $N_tanh(0.5$F * x); }
)"},
    {"lagged", R"(
/* A unit's value tau steps ago, between two steps by linear interpolation; tau is held within 1 and longest.
   ring holds `length` past steps of `width` units each, the present one at `at`. */
static $T $N_lagged(const $T *ring, int at, int length, int width, int longest, $T tau) {
  if (!(tau >= 1)) tau = 1;
  if (tau > ($T)longest) tau = ($T)longest;
  const int near = (int)tau;
  const int far = near < longest ? near + 1 : near;
  const $T f = tau - ($T)near;
  return (1 - f) * ring[width * ((at + length - near) % length)] + f * ring[width * ((at + length - far) % length)];
}
)"},
    {"on_grid", R"(
/* Adds an increment, rounded to a multiple of 2^-32, and gives the sum; beyond 2^18 the state is lost. */
static double $N_on_grid(double *state, $T increment) {
  const double sum = *state + rint((double)increment * 4294967296.0) / 4294967296.0;
  *state = fabs(sum) <= 262144.0 ? sum : (double)NAN;
  return *state;
}
)"},
};

/// The function of C whose value a row gives.
std::string element_helper(const ElementFunction& f) {
  return text_of("\nstatic $T $N_", f.name, f.arrays > 1 ? "($T a, $T b)" : "($T a)", " { return ", f.forms.c,
                 "; }\n");
}

/// The sum of whole_dot, without 64 bits where 32 suffice. Some processors multiply and add two pairs of 16 bits at once, as a
/// Cortex-M4 does; that is written in its instructions, so that no header is needed.
std::string_view sum_of_whole(const CStyle& style) {
  if (style.weights != style.vectors)
    return R"(  $T sum = 0;
  for (int j = 0; j < n;) {
    const int end = n - j > 512 ? j + 512 : n;
    long part = 0;
    for (; j < end; ++j) part += (long)w[j] * x[j];
    sum += ($T)part;
  }
  return sum;
)";
  if (style.weights == CWeights::int8)
    return R"(  long sum = 0;
  int j = 0;
#if defined __ARM_FEATURE_SIMD32 && defined __GNUC__
  for (; j + 8 <= n; j += 8, w += 8, x += 8) {
    for (int k = 0; k < 8; k += 4) {
      int a, b, a_even, a_odd, b_even, b_odd;
      __builtin_memcpy(&a, w + k, 4);
      __builtin_memcpy(&b, x + k, 4);
      __asm("sxtb16 %0, %1" : "=r"(a_even) : "r"(a));
      __asm("sxtb16 %0, %1" : "=r"(b_even) : "r"(b));
      __asm("sxtb16 %0, %1, ror #8" : "=r"(a_odd) : "r"(a));
      __asm("sxtb16 %0, %1, ror #8" : "=r"(b_odd) : "r"(b));
      __asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a_even), "r"(b_even));
      __asm("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a_odd), "r"(b_odd));
    }
  }
  w -= j;
  x -= j;
#endif
  for (; j < n; ++j) sum += (long)w[j] * x[j];
  return ($T)sum;
)";
  return R"(  long long sum = 0;
  int j = 0;
#if defined __ARM_FEATURE_SIMD32 && defined __GNUC__
  for (; j + 4 <= n; j += 4, w += 4, x += 4) {
    int a, b, c, d;
    __builtin_memcpy(&a, w, 4);
    __builtin_memcpy(&b, x, 4);
    __builtin_memcpy(&c, w + 2, 4);
    __builtin_memcpy(&d, x + 2, 4);
    __asm("smlald %Q0, %R0, %1, %2" : "+r"(sum) : "r"(a), "r"(b));
    __asm("smlald %Q0, %R0, %1, %2" : "+r"(sum) : "r"(c), "r"(d));
  }
  w -= j;
  x -= j;
#endif
  for (; j < n; ++j) sum += (long)w[j] * x[j];
  const long high = (long)(sum >> 16); /* two numbers of 32 bits become floats faster than one of 64 */
  return ($T)high * 65536 + ($T)(long)(sum & 65535);
)";
}

std::string filled(std::string_view text, const CStyle& style) {
  const bool whole = style.weights != CWeights::real;
  const std::string type = c_type(style.dtype);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      result += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'N': result += style.name; break;
      case 'T': result += type; break;
      case 'F': result += style.dtype == Dtype::f32 ? "f" : ""; break;
      case 'W': result += whole ? c_type(style.weights) : type; break;
      case 'A': result += c_type(style.vectors); break;
      case 'M': result += text_of(largest_whole(style.vectors)); break;
      case 'D': result += filled(sum_of_whole(style), style); break;
      case 'C': result += whole ? "(" + type + ")" : ""; break;
      default: throw Error("[export] an unknown mark in a function of C.");
    }
  }
  return result;
}

}  // namespace

bool has_own_helper(const ElementFunction& f) { return f.forms.c.find(' ') != std::string_view::npos; }

std::string c_helpers(std::set<std::string> names, const CStyle& style) {
  if (style.fast_functions) {
    const bool sigmoid = names.erase("sigmoid") > 0;
    if (names.erase("tanh") > 0 || sigmoid) names.insert("fast_tanh");
    if (sigmoid) names.insert("fast_sigmoid");
  }
  std::string text;
  for (const Helper& helper : kHelpers)
    if (names.contains(std::string(helper.name))) text += filled(helper.text, style);
  for (const ElementFunction& f : kElementFunctions)
    if (has_own_helper(f) && names.contains(std::string(f.name))) text += filled(element_helper(f), style);
  return text;
}

}  // namespace lagtape
