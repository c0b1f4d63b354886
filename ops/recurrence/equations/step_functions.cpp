#include "lagtape/ops/recurrence/equations/step_functions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/elementwise.h"
#include "lagtape/ops/recurrence/equations/axes.h"
#include "lagtape/ops/reduce.h"
#include "lagtape/ops/shape.h"

namespace lagtape {

template <class T>
std::int64_t FunctionArguments<T>::whole(std::size_t i) const {
  if (const std::optional<double>& value = numbers[i]; value && *value == std::floor(*value))
    return static_cast<std::int64_t>(*value);
  throw InputError({}, Rule::wrong_type,
                   "an axis is a whole number; of two arrays there are minimum(a, b) and maximum(a, b)");
}

namespace {

StepVar zero_like(StepVar a) { return a.tape().constant(0); }
Var zero_like(const Var& a) { return a.tape().constant(Tensor::scalar(0, a.dtype())); }

/// The array as a vector, for a function called without an axis. (Before grammar 2 it used the last axis.)
StepVar flat(StepVar a) {
  if (a.shape().rank == 0) return a.tape().broadcast(a, RowShape::vector(1));
  const bool rows = a.shape().rank < 2 || a.tape().spreading() != StepTape::Spreading::numpy;
  return rows ? a : a.tape().reshape(a, RowShape::vector(a.shape().width()));
}
Var flat(const Var& a) { return reshape(a, {element_count(a.shape())}); }

/// f(array, axis), over all elements if no axis is given.
template <class T, class F>
T along(const FunctionArguments<T>& v, F f) {
  return v.size() > 1 ? f(v[0], v.whole(1)) : f(flat(v[0]), -1);
}

template <class T, class F>
T along_last(const FunctionArguments<T>& v, F f) {
  return f(v[0], v.size() > 1 ? v.whole(1) : -1);
}

/// sin(pi a) / (pi a), as in NumPy.
template <class T>
T sinc(const T& a) {
  const T x = std::numbers::pi * a, away = sign(abs(x)), safe = x + (1 - away);
  return where(away, sin(safe) / safe, zero_like(a) + 1.0);
}

/// The angle of the point (x, y), like NumPy's arctan2(y, x); at the origin 0.
template <class T>
T atan2(const T& y, const T& x) {
  const T zero = zero_like(x), steep = above(abs(y), abs(x));
  const T at_origin = 1.0 - maximum(truth(x), truth(y)),
          behind = above(zero, x) * (1.0 - 2.0 * above(zero, y));
  return where(steep, sign(y) * (std::numbers::pi / 2) - atan(x / y),
               atan(y / (x + at_origin)) + std::numbers::pi * behind);
}

template <class T>
constexpr ArrayFunction<T> kFunctions[] = {
    {"sum", 1, 2,
     [](const FunctionArguments<T>& v) {
       return along(v, [](const T& a, std::int64_t axis) { return sum(a, axis); });
     }},
    {"mean", 1, 2,
     [](const FunctionArguments<T>& v) {
       return along(v, [](const T& a, std::int64_t axis) { return mean(a, axis); });
     }},
    {"max", 1, 2,
     [](const FunctionArguments<T>& v) {
       return along(v, [](const T& a, std::int64_t axis) { return extreme(ElementOp::maximum, a, axis); });
     }},
    {"min", 1, 2,
     [](const FunctionArguments<T>& v) {
       return along(v, [](const T& a, std::int64_t axis) { return extreme(ElementOp::minimum, a, axis); });
     }},
    {"norm", 1, 2,
     [](const FunctionArguments<T>& v) {
       return along(v, [](const T& a, std::int64_t axis) { return sqrt(sum(a * a, axis)); });
     }},
    {"logsumexp", 1, 2, [](const FunctionArguments<T>& v) { return along(v, logsumexp<T>); }},
    {"softmax", 1, 2, [](const FunctionArguments<T>& v) { return along_last(v, softmax<T>); }},
    {"cumsum", 1, 2, [](const FunctionArguments<T>& v) { return along_last(v, cumsum<T>); }},
    {"roll", 2, 3,
     [](const FunctionArguments<T>& v) { return roll(v[0], v.whole(1), v.size() > 2 ? v.whole(2) : -1); }},
    {"transpose", 1, 1 + RowShape::kLargestRank,
     [](const FunctionArguments<T>& v) {
       std::vector<std::int64_t> order;
       for (std::size_t i = 1; i < v.size(); ++i) order.push_back(v.whole(i));
       return order.empty() ? transposed(v[0]) : reordered(v[0], std::move(order));
     }},
    {"matrix_transpose", 1, 1, [](const FunctionArguments<T>& v) { return transposed(v[0]); }},
    {"where", 3, 3,
     [](const FunctionArguments<T>& v) -> T {
       if constexpr (std::is_same_v<T, StepVar>)
         if (v[0].tape().spreading() != StepTape::Spreading::numpy) return v[0] * v[1] + (1 - v[0]) * v[2];
       return where(v[0], v[1], v[2]);
     }},
    {"mod", 2, 2, [](const FunctionArguments<T>& v) { return mod(v[0], v[1]); }},
    {"outer", 2, 2, [](const FunctionArguments<T>& v) { return outer(v[0], v[1]); }},
    {"clip", 3, 3, [](const FunctionArguments<T>& v) { return minimum(maximum(v[0], v[1]), v[2]); }},
    {"clamp", 3, 3, [](const FunctionArguments<T>& v) { return minimum(maximum(v[0], v[1]), v[2]); }},
    {"silu", 1, 1, [](const FunctionArguments<T>& v) { return v[0] * sigmoid(v[0]); }},
    {"gelu", 1, 1,
     [](const FunctionArguments<T>& v) {
       return 0.5 * v[0] * (1.0 + erf(v[0] * (1 / std::numbers::sqrt2)));
     }},
    {"softsign", 1, 1, [](const FunctionArguments<T>& v) { return v[0] / (1.0 + abs(v[0])); }},
    {"sinc", 1, 1, [](const FunctionArguments<T>& v) { return sinc(v[0]); }},
    {"atan2", 2, 2, [](const FunctionArguments<T>& v) { return atan2(v[0], v[1]); }},
};

/// Functions of derived weights that are not in any table.
const std::vector<std::string> kOthers = {
    "sum",    "mean",  "eye",     "arange", "reshape", "strict_upper", "where", "mod",   "expand", "concat",
    "einsum", "slice", "complex", "real",   "imag",    "conj",         "angle", "zeros", "ones",   "expm"};

struct Surrogate {
  std::string_view name;
  double slope;
  StepVar (*value)(StepVar u, double slope);  ///< whose derivative is the spike's
};

constexpr Surrogate kSurrogates[] = {
    {"fast_sigmoid", 25, [](StepVar u, double k) { return u / (1 + k * abs(u)); }},
    {"sigmoid", 25, [](StepVar u, double k) { return sigmoid(k * u); }},
    {"atan", 2,
     [](StepVar u, double k) { return std::numbers::inv_pi * atan((std::numbers::pi / 2 * k) * u); }},
    {"triangle", 1,
     [](StepVar u, double k) {
       const StepVar c = minimum(maximum(k * u, u.tape().constant(-1)), u.tape().constant(1));
       return c - 0.5 * (c * abs(c));
     }},
};

const Surrogate& surrogate_named(std::string_view name) {
  for (const Surrogate& row : kSurrogates)
    if (row.name == name) return row;
  std::vector<std::string> known;
  for (const Surrogate& row : kSurrogates) known.emplace_back(row.name);
  throw InputError(unknown_name("surrogate", std::string(name), known));
}

}  // namespace

template <class T>
std::span<const ArrayFunction<T>> array_functions() {
  return kFunctions<T>;
}

std::int64_t numbers_of_pair(const Shape& a, const Shape& b) {
  std::int64_t count = 1;
  for (std::size_t i = 1; i <= std::max(a.size(), b.size()); ++i) {
    const std::int64_t in_a = i <= a.size() ? a[a.size() - i] : 1, in_b = i <= b.size() ? b[b.size() - i] : 1;
    if (in_a != in_b && in_a != 1 && in_b != 1) return 0;
    count *= std::max(in_a, in_b);
  }
  return count;
}

std::int64_t numbers_of_product(const Shape& a, const Shape& b) {
  if (a.empty() || b.size() != 2 || a.back() != b[0] || b[0] == 0) return 0;
  return element_count(a) / b[0] * b[1];
}

std::int64_t numbers_of_einsum(std::string_view letters, std::span<const Var> operands) {
  std::map<char, std::int64_t> extents;  // of all letters
  std::size_t o = 0, axis = 0;
  for (const char c : letters.substr(0, letters.find('-'))) {
    if (c == ',')
      ++o, axis = 0;
    else if (c != ' ' && o < operands.size() && axis < operands[o].shape().size())
      extents[c] = operands[o].shape()[axis++];
  }
  double numbers = 1;
  for (const auto& [letter, extent] : extents) numbers *= static_cast<double>(extent);
  return static_cast<std::int64_t>(std::min(numbers, 1e18));
}

StepVar spike(StepVar u, std::string_view shape, double slope) {
  const Surrogate& row = surrogate_named(shape);
  if (!(slope > 0))
    throw InputError({.op = "spike"}, Rule::out_of_range, "a slope is above 0", text_of(slope));
  return surrogate(above(u, zero_like(u)), row.value(u, slope));
}

double default_slope(std::string_view shape) { return surrogate_named(shape).slope; }

std::vector<std::string> weight_function_names() {
  std::vector<std::string> names = kOthers;
  for (const ArrayFunction<Var>& function : array_functions<Var>())
    if (std::ranges::find(names, function.name) == names.end()) names.emplace_back(function.name);
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function) names.emplace_back(function.name);
  return names;
}

template struct FunctionArguments<StepVar>;
template struct FunctionArguments<Var>;
template std::span<const ArrayFunction<StepVar>> array_functions();
template std::span<const ArrayFunction<Var>> array_functions();

}  // namespace lagtape
