#include "lagtape/tools/exchange/export/c99/c_helpers.h"

#include <string_view>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// A function in C. In its text $N is the name of the model, $T the scalar, $F the suffix of its functions and
/// numbers, $W the type of matrices and $C a cast from it.
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
      case 'W': result += !whole ? type : style.weights == CWeights::int8 ? "signed char" : "short"; break;
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
