#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <string_view>

#include "lagtape/ops/kernels/element_names.h"

namespace lagtape {

/// The notation of a function in equations: none (only kernels use it), a symbol before or between its
/// operands, or name(a) or name(a, b).
enum class ElementNotation : std::uint8_t { none, symbol, function };

/// The cost of a kernel per vector: one instruction, a few, or at least as long as a division.
enum class ElementCost : std::uint8_t { one, few, many };

/// Where a function is smooth: everywhere, everywhere except at zero, above zero, or between whole numbers. Tests draw
/// their arguments there. A declared gradient is not the derivative of the value.
enum class ElementDomain : std::uint8_t { real, nonzero, positive, fraction, declared };

/// Reverse mode through y = f(a, b), in the form used by the table. Values are handles: of a step's adjoint
/// program, or of tensors on the outer tape.
class ElementAdjoint {
 public:
  struct Value {
    ElementAdjoint* adjoint;
    int id;
  };

  /// f(a, b) with the constant k; an id of -1 is not an operand.
  virtual int element(ElementOp f, int a, int b, double k) = 0;
  /// Whether b carries a gradient. Otherwise values that only b needs are not recorded.
  virtual bool has_gradient(Value operand) const = 0;
  /// Adds a value to the adjoint of an operand, or subtracts it.
  virtual void add(Value operand, Value value) = 0;
  virtual void subtract(Value operand, Value value) = 0;

  Value a, b, y, d;  ///< the operands, the result, and the result's adjoint dL/dy
  double k;          ///< the constant of the operation

 protected:
  ElementAdjoint(int a, int b, int y, int d, double k)
      : a{this, a}, b{this, b}, y{this, y}, d{this, d}, k(k) {}
  ~ElementAdjoint() = default;
};

inline ElementAdjoint::Value elementwise(ElementOp f, ElementAdjoint::Value a, ElementAdjoint::Value b,
                                         double k = 0) {
  return {a.adjoint, a.adjoint->element(f, a.id, b.id, k)};
}
inline ElementAdjoint::Value elementwise(ElementOp f, ElementAdjoint::Value a, double k = 0) {
  return elementwise(f, a, {a.adjoint, -1}, k);
}

/// The notation of a function in other languages; empty: none.
struct ElementForms {
  /// In C: an operator sign, the name of a math.h function, or else the value in terms of a and b, which the
  /// exporter makes a function ($T is the scalar's type, $F the suffix of its numbers and functions).
  std::string_view c;
  /// In ONNX: the name of an operation, or nested nodes: "Log(Add(a, 1))".
  std::string_view onnx;
};

/// Everything about an element-wise function except its vector formula, which is in element.inc.h. (Python
/// reads names and formulas from here at startup.)
struct ElementFunction {
  ElementOp op;
  std::string_view name;
  std::string_view formula;  ///< for readers, in terms of a, b, c, and k
  int arrays;                ///< how many of the arrays a, b, c it reads
  ElementNotation notation;
  ElementCost cost;
  /// Its value for numbers, by the C library in double; null if it has no notation. A one-argument function
  /// ignores b.
  double (*value)(double a, double b) = nullptr;
  /// Its derivative. Null if the function has no gradient or occurs only in backward passes.
  void (*reverse)(ElementAdjoint& r) = nullptr;
  ElementForms forms = {};
  ElementDomain domain = ElementDomain::real;
  /// The kernel leaves some elements to the C library. Machine code cannot call it, so the interpreter runs
  /// such a function.
  bool calls_library = false;
};

namespace element_rows {

using Op = ElementOp;
using R = ElementAdjoint;
using enum ElementNotation;
using enum ElementCost;
using enum ElementDomain;

inline R::Value operator-(R::Value a) { return elementwise(Op::negate, a); }
inline R::Value operator*(R::Value a, R::Value b) { return elementwise(Op::multiply, a, b); }
inline R::Value operator*(R::Value a, double k) { return elementwise(Op::multiply_constant, a, k); }
inline R::Value operator/(R::Value a, R::Value b) { return elementwise(Op::divide, a, b); }

/// Sends the adjoint to a where `larger` >= `smaller`, else to b, so ties go to the first operand.
inline void choose(R& r, R::Value larger, R::Value smaller) {
  const R::Value to_a = elementwise(Op::greater, larger, smaller, 1);
  r.add(r.a, r.d * to_a);
  if (r.has_gradient(r.b)) r.add(r.b, r.d * elementwise(Op::constant_minus, to_a, 1));
}

/// One row per function, in the order of ElementOp.
inline constexpr ElementFunction kElementFunctions[] = {
    // clang-format off
    {Op::fill, "fill", "k", 0, none, one},
    {Op::copy, "copy", "a", 1, none, one},
    {Op::negate, "negate", "-a", 1, symbol, one,
     [](double a, double) { return -a; },
     [](R& r) { r.subtract(r.a, r.d); }, {"-", "Neg"}},
    {Op::tanh, "tanh", "the hyperbolic tangent", 1, function, many,
     [](double a, double) { return std::tanh(a); },
     [](R& r) { r.add(r.a, elementwise(Op::tanh_adjoint, r.d, r.y)); }, {"tanh", "Tanh"}},
    {Op::sigmoid, "sigmoid", "1 / (1 + exp(-a))", 1, function, many,
     [](double a, double) { return 1 / (1 + std::exp(-a)); },
     [](R& r) { r.add(r.a, elementwise(Op::sigmoid_adjoint, r.d, r.y)); },
     {"1.0$F / (1.0$F + exp$F(-a))", "Sigmoid"}},
    {Op::softplus, "softplus", "log(1 + exp(a))", 1, function, many,
     [](double a, double) { return std::fmax(a, 0) + std::log1p(std::exp(-std::fabs(a))); },
     [](R& r) { r.add(r.a, r.d * sigmoid(r.a)); },
     {"(a > 0 ? a : 0) + log1p$F(exp$F(-fabs$F(a)))", "Add(Log(Add(Exp(Neg(Abs(a))), 1)), Relu(a))"}},
    {Op::relu, "relu", "a above 0, else 0", 1, function, few,
     [](double a, double) { return a > 0 ? a : 0.0; },
     [](R& r) { r.add(r.a, where_positive(r.d, r.y)); }, {"a > 0 ? a : 0", "Relu"}, nonzero},
    {Op::exp, "exp", "the exponential", 1, function, many,
     [](double a, double) { return std::exp(a); },
     [](R& r) { r.add(r.a, r.d * r.y); }, {"exp", "Exp"}},
    {Op::log, "log", "the natural logarithm", 1, function, many,
     [](double a, double) { return std::log(a); },
     [](R& r) { r.add(r.a, r.d / r.a); }, {"log", "Log"}, positive},
    {Op::sqrt, "sqrt", "the square root", 1, function, many,
     [](double a, double) { return std::sqrt(a); },
     [](R& r) { r.add(r.a, r.d / r.y * 0.5); }, {"sqrt", "Sqrt"}, positive},
    {Op::abs, "abs", "the magnitude", 1, function, few,
     [](double a, double) { return std::abs(a); },
     [](R& r) { r.add(r.a, r.d * sign(r.a)); }, {"fabs", "Abs"}, nonzero},
    {Op::sin, "sin", "the sine", 1, function, many,
     [](double a, double) { return std::sin(a); },
     [](R& r) { r.add(r.a, r.d * cos(r.a)); }, {"sin", "Sin"}, real, true},
    {Op::cos, "cos", "the cosine", 1, function, many,
     [](double a, double) { return std::cos(a); },
     [](R& r) { r.subtract(r.a, r.d * sin(r.a)); }, {"cos", "Cos"}, real, true},
    {Op::sign, "sign", "-1, 0 or 1", 1, function, few,
     [](double a, double) { return double((a > 0) - (a < 0)); },
     nullptr, {"($T)((a > 0) - (a < 0))", "Sign"}, nonzero},
    {Op::floor, "floor", "the largest whole number that is not above a", 1, function, few,
     [](double a, double) { return std::floor(a); },
     nullptr, {"floor", "Floor"}, fraction},
    {Op::add, "add", "a + b", 2, symbol, one,
     [](double a, double b) { return a + b; },
     [](R& r) { r.add(r.a, r.d), r.add(r.b, r.d); }, {"+", "Add"}},
    {Op::subtract, "subtract", "a - b", 2, symbol, one,
     [](double a, double b) { return a - b; },
     [](R& r) { r.add(r.a, r.d), r.subtract(r.b, r.d); }, {"-", "Sub"}},
    {Op::multiply, "multiply", "a * b", 2, symbol, one,
     [](double a, double b) { return a * b; },
     [](R& r) {
       if (r.has_gradient(r.a)) r.add(r.a, r.d * r.b);
       if (r.has_gradient(r.b)) r.add(r.b, r.d * r.a);
     }, {"*", "Mul"}},
    {Op::divide, "divide", "a / b", 2, symbol, many,
     [](double a, double b) { return a / b; },
     [](R& r) {
       const R::Value quotient = r.d / r.b;
       r.add(r.a, quotient);
       if (r.has_gradient(r.b)) r.subtract(r.b, quotient * r.y);
     }, {"/", "Div"}},
    {Op::minimum, "minimum", "the smaller of a and b", 2, function, one,
     [](double a, double b) { return a < b ? a : b; },
     [](R& r) { choose(r, r.b, r.a); }, {"a < b ? a : b", "Min"}},
    {Op::maximum, "maximum", "the larger of a and b", 2, function, one,
     [](double a, double b) { return a > b ? a : b; },
     [](R& r) { choose(r, r.a, r.b); }, {"a > b ? a : b", "Max"}},
    {Op::add_constant, "add_constant", "a + k", 1, none, one, nullptr,
     [](R& r) { r.add(r.a, r.d); }},
    {Op::multiply_constant, "multiply_constant", "a * k", 1, none, one, nullptr,
     [](R& r) { r.add(r.a, r.d * r.k); }},
    {Op::minimum_constant, "minimum_constant", "the smaller of a and k", 1, none, one},
    {Op::maximum_constant, "maximum_constant", "the larger of a and k", 1, none, one},
    {Op::constant_minus, "constant_minus", "k - a", 1, none, one, nullptr,
     [](R& r) { r.subtract(r.a, r.d); }},
    {Op::constant_over, "constant_over", "k / a", 1, none, many, nullptr,
     [](R& r) { r.subtract(r.a, r.d * (r.y / r.a)); }},
    {Op::greater, "greater", "1 where a > b (a >= b when k is 1), else 0", 2, none, few},
    {Op::tanh_adjoint, "tanh_adjoint", "a (1 - b b): a dL/dy, b the output y of tanh", 2, none, few},
    {Op::sigmoid_adjoint, "sigmoid_adjoint", "a b (1 - b): a dL/dy, b the output y of sigmoid", 2, none, few},
    {Op::where_positive, "where_positive", "a where b > 0, else 0", 2, function, few,
     [](double a, double b) { return b > 0 ? a : 0.0; },
     [](R& r) { r.add(r.a, where_positive(r.d, r.b)); }, {"b > 0 ? a : 0", "Where(Greater(b, 0), a, 0)"}, nonzero},
    {Op::multiply_add, "multiply_add", "a * b + c, rounded twice: the bits of multiply, then add", 3, none, few},
    {Op::erf, "erf", "the error function", 1, function, many,
     [](double a, double) { return std::erf(a); },
     [](R& r) { r.add(r.a, r.d * exp(-(r.a * r.a)) * (2 * std::numbers::inv_sqrtpi)); }, {"erf", "Erf"}},
    {Op::atan, "atan", "the arc tangent", 1, function, many,
     [](double a, double) { return std::atan(a); },
     [](R& r) { r.add(r.a, r.d / elementwise(Op::add_constant, r.a * r.a, 1)); }, {"atan", "Atan"}},
    {Op::stop, "stop", "a, through which no gradient goes", 1, function, one,
     [](double a, double) { return a; },
     nullptr, {"a + 0", "Identity"}, declared},
    {Op::surrogate, "surrogate", "a, with the gradient of b", 2, function, one,
     [](double a, double) { return a; },
     [](R& r) { r.add(r.b, r.d); }, {"b == b ? a : a", "Identity(a)"}, declared},
    {Op::where_nonzero, "where_nonzero", "a where b is not 0, else 0", 2, none, few},
    // clang-format on
};

}  // namespace element_rows

using element_rows::kElementFunctions;

/// The row of a function.
constexpr const ElementFunction& function_of(ElementOp op) {
  return kElementFunctions[static_cast<std::size_t>(op)];
}

/// The function that an equation writes as name(...); null if there is none.
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
