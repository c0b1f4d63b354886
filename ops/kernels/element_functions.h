#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace lagtape {

/// Element-wise operations on up to three arrays a, b, c and one constant k; kElementFunctions has a row for
/// each, with its formula.
enum class ElementOp : std::uint8_t {
  // clang-format off
  fill, copy, negate,
  tanh, sigmoid, softplus, relu, exp, log, sqrt, abs, sin, cos, sign, floor,
  add, subtract, multiply, divide, minimum, maximum,
  add_constant, multiply_constant, minimum_constant, maximum_constant, constant_minus, constant_over,
  greater, tanh_adjoint, sigmoid_adjoint, relu_adjoint, multiply_add,
  erf,
  count
  // clang-format on
};

/// How an equation writes a function: not at all (kernels alone know it), as a symbol before or between its
/// operands, or as name(a) or name(a, b).
enum class ElementNotation : std::uint8_t { none, symbol, function };

/// How long a kernel takes for a vector: one instruction, a few, or as long as a division and more.
enum class ElementCost : std::uint8_t { one, few, many };

/// Where a function is smooth: everywhere, everywhere but at zero, above zero, or between whole numbers. Tests take
/// their arguments from there.
enum class ElementDomain : std::uint8_t { real, nonzero, positive, fraction };

/// Everything about an element-wise function but its vector formula (element.inc.h), its derivative
/// (derive/adjoint_rules.cpp) and its operation of the outer tape (ops/elementwise.cpp): those stay apart, so
/// that each can be tested against the others.
struct ElementFunction {
  ElementOp op;
  std::string_view name;
  std::string_view formula;  ///< for a reader, in a, b, c and k
  int arrays;                ///< how many of the arrays a, b, c it reads
  ElementNotation notation;
  ElementCost cost;
  /// Its value for numbers, by the C library in double; null where there is no notation. A function of one
  /// number ignores b.
  double (*value)(double a, double b);
  ElementDomain domain = ElementDomain::real;
  /// The kernel leaves some elements to the C library. Machine code does not call it, so the interpreter runs
  /// such a function.
  bool calls_library = false;
};

namespace element_rows {

using enum ElementOp;
using enum ElementNotation;
using enum ElementCost;
using enum ElementDomain;

/// One row a function, in the order of ElementOp.
inline constexpr ElementFunction kElementFunctions[] = {
    {fill, "fill", "k", 0, none, one, nullptr},
    {copy, "copy", "a", 1, none, one, nullptr},
    {negate, "negate", "-a", 1, symbol, one, [](double a, double) { return -a; }},
    {tanh, "tanh", "the hyperbolic tangent", 1, function, many,
     [](double a, double) { return std::tanh(a); }},
    {sigmoid, "sigmoid", "1 / (1 + exp(-a))", 1, function, many,
     [](double a, double) { return 1 / (1 + std::exp(-a)); }},
    {softplus, "softplus", "log(1 + exp(a))", 1, function, many,
     [](double a, double) { return std::fmax(a, 0) + std::log1p(std::exp(-std::fabs(a))); }},
    {relu, "relu", "a above 0, else 0", 1, function, few, [](double a, double) { return a > 0 ? a : 0.0; },
     nonzero},
    {exp, "exp", "the exponential", 1, function, many, [](double a, double) { return std::exp(a); }},
    {log, "log", "the natural logarithm", 1, function, many, [](double a, double) { return std::log(a); },
     positive},
    {sqrt, "sqrt", "the square root", 1, function, many, [](double a, double) { return std::sqrt(a); },
     positive},
    {abs, "abs", "the magnitude", 1, function, few, [](double a, double) { return std::abs(a); }, nonzero},
    {sin, "sin", "the sine", 1, function, many, [](double a, double) { return std::sin(a); }, real, true},
    {cos, "cos", "the cosine", 1, function, many, [](double a, double) { return std::cos(a); }, real, true},
    {sign, "sign", "-1, 0 or 1", 1, function, few, [](double a, double) { return double((a > 0) - (a < 0)); },
     nonzero},
    {floor, "floor", "the largest whole number that is not above a", 1, function, few,
     [](double a, double) { return std::floor(a); }, fraction},
    {add, "add", "a + b", 2, symbol, one, [](double a, double b) { return a + b; }},
    {subtract, "subtract", "a - b", 2, symbol, one, [](double a, double b) { return a - b; }},
    {multiply, "multiply", "a * b", 2, symbol, one, [](double a, double b) { return a * b; }},
    {divide, "divide", "a / b", 2, symbol, many, [](double a, double b) { return a / b; }},
    {minimum, "minimum", "the smaller of a and b", 2, function, one,
     [](double a, double b) { return a < b ? a : b; }},
    {maximum, "maximum", "the larger of a and b", 2, function, one,
     [](double a, double b) { return a > b ? a : b; }},
    {add_constant, "add_constant", "a + k", 1, none, one, nullptr},
    {multiply_constant, "multiply_constant", "a * k", 1, none, one, nullptr},
    {minimum_constant, "minimum_constant", "the smaller of a and k", 1, none, one, nullptr},
    {maximum_constant, "maximum_constant", "the larger of a and k", 1, none, one, nullptr},
    {constant_minus, "constant_minus", "k - a", 1, none, one, nullptr},
    {constant_over, "constant_over", "k / a", 1, none, many, nullptr},
    {greater, "greater", "1 where a > b (a >= b when k is 1), else 0", 2, none, few, nullptr},
    {tanh_adjoint, "tanh_adjoint", "a (1 - b b): a dL/dy, b the output y of tanh", 2, none, few, nullptr},
    {sigmoid_adjoint, "sigmoid_adjoint", "a b (1 - b): a dL/dy, b the output y of sigmoid", 2, none, few,
     nullptr},
    {relu_adjoint, "relu_adjoint", "a where b > 0, else 0: a dL/dy, b the output y of relu", 2, none, few,
     nullptr},
    {multiply_add, "multiply_add", "a * b + c, rounded twice: the bits of multiply, then add", 3, none, few,
     nullptr},
    {erf, "erf", "the error function", 1, function, many, [](double a, double) { return std::erf(a); }},
};

}  // namespace element_rows

using element_rows::kElementFunctions;

/// The row of a function.
constexpr const ElementFunction& function_of(ElementOp op) {
  return kElementFunctions[static_cast<std::size_t>(op)];
}

/// The function that an equation writes as name(...); null when no equation can.
constexpr const ElementFunction* function_named(std::string_view name) {
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function && function.name == name) return &function;
  return nullptr;
}

static_assert(std::size(kElementFunctions) == static_cast<std::size_t>(ElementOp::count));
static_assert([] {
  for (std::size_t i = 0; i < std::size(kElementFunctions); ++i) {
    if (kElementFunctions[i].op != static_cast<ElementOp>(i)) return false;
  }
  return true;
}());

}  // namespace lagtape
