#pragma once

#include <concepts>
#include <cstdint>

namespace lagtape {

/// Element-wise operations on up to three arrays a, b, c and one constant k; kElementFunctions has a row for
/// each, with its formula.
enum class ElementOp : std::uint8_t {
  // clang-format off
  fill, copy, negate,
  tanh, sigmoid, softplus, relu, exp, log, sqrt, abs, sin, cos, sign, floor,
  add, subtract, multiply, divide, minimum, maximum,
  add_constant, multiply_constant, minimum_constant, maximum_constant, constant_minus, constant_over,
  greater, tanh_adjoint, sigmoid_adjoint, where_positive, multiply_add,
  erf, atan, stop, surrogate, where_nonzero,
  count
  // clang-format on
};

/// The types that elementwise(f, a) and elementwise(f, a, b) accept: values of a step (StepVar), values of the
/// outer tape (Var), and adjoints.
template <class T>
concept ElementOperand = requires(const T& a) {
  { elementwise(ElementOp::copy, a) } -> std::same_as<T>;
};

// The functions' names in C++.
// clang-format off
template <ElementOperand T> T tanh(const T& a) { return elementwise(ElementOp::tanh, a); }
template <ElementOperand T> T sigmoid(const T& a) { return elementwise(ElementOp::sigmoid, a); }  ///< 1 / (1 + exp(-a))
template <ElementOperand T> T softplus(const T& a) { return elementwise(ElementOp::softplus, a); }  ///< log(1 + exp(a)), stable at both ends
template <ElementOperand T> T relu(const T& a) { return elementwise(ElementOp::relu, a); }  ///< max(a, 0); the gradient at 0 is 0
template <ElementOperand T> T exp(const T& a) { return elementwise(ElementOp::exp, a); }
template <ElementOperand T> T log(const T& a) { return elementwise(ElementOp::log, a); }
template <ElementOperand T> T sqrt(const T& a) { return elementwise(ElementOp::sqrt, a); }
template <ElementOperand T> T abs(const T& a) { return elementwise(ElementOp::abs, a); }  ///< the gradient at 0 is 0
template <ElementOperand T> T sin(const T& a) { return elementwise(ElementOp::sin, a); }
template <ElementOperand T> T cos(const T& a) { return elementwise(ElementOp::cos, a); }
template <ElementOperand T> T sign(const T& a) { return elementwise(ElementOp::sign, a); }  ///< -1, 0 or 1, without a gradient
template <ElementOperand T> T floor(const T& a) { return elementwise(ElementOp::floor, a); }  ///< the largest whole number not above a, without a gradient
template <ElementOperand T> T erf(const T& a) { return elementwise(ElementOp::erf, a); }  ///< the error function
template <ElementOperand T> T atan(const T& a) { return elementwise(ElementOp::atan, a); }
template <ElementOperand T> T stop(const T& a) { return elementwise(ElementOp::stop, a); }  ///< a, through which no gradient goes
template <ElementOperand T> T surrogate(const T& a, const T& b) { return elementwise(ElementOp::surrogate, a, b); }  ///< a, with the gradient of b
template <ElementOperand T> T where_positive(const T& a, const T& b) { return elementwise(ElementOp::where_positive, a, b); }  ///< a where b > 0, else 0, even where a is not a number; no gradient to b
template <ElementOperand T> T minimum(const T& a, const T& b) { return elementwise(ElementOp::minimum, a, b); }  ///< ties go to a, and so does the gradient
template <ElementOperand T> T maximum(const T& a, const T& b) { return elementwise(ElementOp::maximum, a, b); }  ///< ties go to a, and so does the gradient
// clang-format on

}  // namespace lagtape
