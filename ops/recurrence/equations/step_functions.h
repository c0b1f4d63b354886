#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/core/tape.h"
#include "lagtape/ops/kernels/element_names.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

// The operators of equations, for both values of a step (StepVar) and weights (Var). Comparisons and their
// combinations are 1 where they hold, else 0, without a gradient.

template <ElementOperand T>
T above(const T& a, const T& b) {
  return sign(relu(a - b));
}

/// 0 where a is 0, else 1.
template <ElementOperand T>
T truth(const T& a) {
  return sign(abs(a));
}

/// b where the condition c is 0, else a. The unselected one may be NaN, but its derivative is multiplied by 0
/// and must be finite.
template <ElementOperand T>
T where(const T& c, const T& a, const T& b) {
  const T holds = truth(c);
  return where_positive(a, holds) + where_positive(b, 1 - holds);
}

/// a - b * floor(a / b), which has the sign of b.
template <ElementOperand T>
T mod(const T& a, const T& b) {
  return a - b * floor(a / b);
}

/// a to a constant power: products if it is a whole number, else exp(b * log(a)) with a above 0.
template <ElementOperand T>
T power(const T& a, double b) {
  constexpr double kMostFactors = 64;
  if (b == 0.5) return sqrt(a);
  if (b != std::floor(b) || std::abs(b) > kMostFactors) return exp(b * log(a));
  if (b < 0) return 1 / power(a, -b);
  if (b == 0) return 0 * a + 1;
  if (b == 1) return a;
  const T half = power(a, std::floor(b / 2));
  return std::fmod(b, 2) == 0 ? half * half : half * half * a;
}

/// a and b joined by any operator except @.
template <ElementOperand T>
T operated(std::string_view sign, const T& a, const T& b) {
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  if (sign == "/") return a / b;
  if (sign == "%") return mod(a, b);
  if (sign == ">") return above(a, b);
  if (sign == "<") return above(b, a);
  if (sign == ">=") return 1 - above(b, a);
  if (sign == "<=") return 1 - above(a, b);
  if (sign == "==") return 1 - truth(a - b);
  if (sign == "!=") return truth(a - b);
  if (sign == "and") return truth(a) * truth(b);
  if (sign == "or") return maximum(truth(a), truth(b));
  return exp(b * log(a));  // ** and ^
}

/// The same for numbers.
inline double operated(std::string_view sign, double a, double b) {
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  if (sign == "/") return a / b;
  if (sign == "%") return a - b * std::floor(a / b);
  if (sign == ">") return a > b;
  if (sign == "<") return a < b;
  if (sign == ">=") return a >= b;
  if (sign == "<=") return a <= b;
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "and") return a != 0 && b != 0;
  if (sign == "or") return a != 0 || b != 0;
  return std::pow(a, b);
}

/// The arguments of a call: arrays, and those among them that are known numbers at recording time.
template <class T>
struct FunctionArguments {
  std::span<const T> arrays;
  std::span<const std::optional<double>> numbers;

  const T& operator[](std::size_t i) const { return arrays[i]; }
  std::size_t size() const { return arrays.size(); }
  /// A number used as an axis or a count of elements. Throws InputError for others.
  std::int64_t whole(std::size_t i) const;
};

/// A function other than the element-wise ones, as called in an equation: sum(S, 0). For values of a step
/// (StepVar) and derived weights (Var).
template <class T>
struct ArrayFunction {
  std::string_view name;
  std::size_t least, most;  ///< arguments
  T (*value)(const FunctionArguments<T>& arguments);
};

/// All of them except those with sizes, strings, or random draws.
template <class T>
std::span<const ArrayFunction<T>> array_functions();

/// The function with that name, or null.
template <class T>
const ArrayFunction<T>* array_function_named(std::string_view name) {
  for (const ArrayFunction<T>& function : array_functions<T>())
    if (function.name == name) return &function;
  return nullptr;
}

/// A spike: 1 where u is above 0, else 0, with the gradient of another function of u (the same as in snnTorch,
/// with its names). `shape`: "fast_sigmoid" 1 / (1 + slope |u|)^2; "sigmoid", that of sigmoid(slope u); "atan"
/// slope / 2 / (1 + (pi / 2 slope u)^2); "triangle" slope max(0, 1 - slope |u|). Throws InputError for another
/// name.
StepVar spike(StepVar u, std::string_view shape, double slope);

/// The names of the functions available in derived weights.
std::vector<std::string> weight_function_names();

/// How many numbers a derived weight's result has, to prevent requests for excessive memory: an element-wise
/// result of two arrays, a matrix product, an einsum's intermediate result. 0 for shapes that do not fit, for
/// which the operation itself throws.
std::int64_t numbers_of_pair(const Shape& a, const Shape& b);
std::int64_t numbers_of_product(const Shape& a, const Shape& b);
std::int64_t numbers_of_einsum(std::string_view letters, std::span<const Var> operands);

/// The default slope of a spike.
double default_slope(std::string_view shape);

}  // namespace lagtape
