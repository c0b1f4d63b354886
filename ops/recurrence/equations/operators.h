#pragma once

#include <cmath>
#include <string_view>

#include "lagtape/ops/kernels/element_names.h"

namespace lagtape {

// The operators of equations, of values of a step (StepVar) and of weights (Var) alike. Comparisons and what they are
// joined by are 1 where they hold, else 0, and pass no gradient on.

template <ElementOperand T>
T above(const T& a, const T& b) {
  return sign(relu(a - b));
}

/// 0 where a is 0, else 1.
template <ElementOperand T>
T truth(const T& a) {
  return sign(abs(a));
}

/// b where the condition c is 0, else a. What is not taken may be no number, but its derivative is multiplied by 0 and
/// must be finite.
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

/// a to a power that is a number: products where it is whole, else exp(b * log(a)) with a above 0.
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

/// a and b joined by any operator but @.
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

/// The same of numbers.
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

}  // namespace lagtape
