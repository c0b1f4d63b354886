#include "lagtape/ops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lagtape/core/error.h"
#include "lagtape/ops/broadcast.h"
#include "lagtape/ops/element.h"

namespace lagtape {
namespace {

using Op = ElementOp;

/// A function that gives dL/dx from dL/dy, x and y.
using UnaryRule = Tensor (*)(const Tensor& d, const Tensor& x, const Tensor& y);

Var unary(const char* name, Op op, const Var& x, UnaryRule rule) {
  Tape& tape = common_tape(name, {{"x", x}});
  Tensor y = tape.allocate(x.shape(), x.dtype());
  apply_element(op, y, x.value());
  return tape.record(y, {x}, [x = x.value(), y, rule](const Tensor& d, InputGradients& inputs) {
    inputs.add(0, rule(d, x, y));
  });
}

/// A function that gives dL/da, or dL/db, from dL/dy, a, b and y, all of one shape.
using BinaryRule = Tensor (*)(const Tensor& d, const Tensor& a, const Tensor& b, const Tensor& y);

Var binary(const char* name, Op op, const Var& a, const Var& b, BinaryRule rule_a, BinaryRule rule_b) {
  Tape& tape = common_tape(name, {{"a", a}, {"b", b}});
  const Shape shape = broadcast_shape(name, {"a", a}, {"b", b});
  Tensor y = tape.allocate(shape, a.dtype());
  apply_element(op, y, expand(a.value(), shape), expand(b.value(), shape));
  return tape.record(
      y, {a, b}, [a = a.value(), b = b.value(), y, rule_a, rule_b](const Tensor& d, InputGradients& inputs) {
        const Tensor wide_a = expand(a, d.shape()), wide_b = expand(b, d.shape());
        if (inputs.wanted(0)) inputs.add(0, sum_to(rule_a(d, wide_a, wide_b, y), a.shape()));
        if (inputs.wanted(1)) inputs.add(1, sum_to(rule_b(d, wide_a, wide_b, y), b.shape()));
      });
}

/// Writes f(x) for every element of x, computed in double.
template <class F>
void map(Tensor& out, const Tensor& x, F f) {
  with_scalar(x.dtype(), [&]<class T>() {
    const auto from = x.values<T>();
    std::transform(from.begin(), from.end(), out.values<T>().begin(),
                   [&](T value) { return static_cast<T>(f(value)); });
  });
}

Var number(const char* name, const NamedInput& like, double value) {
  return common_tape(name, {like}).constant(Tensor::scalar(value, like.var.dtype()));
}

}  // namespace

Var operator+(const Var& a, const Var& b) {
  const BinaryRule rule = [](const Tensor& d, const Tensor&, const Tensor&, const Tensor&) { return d; };
  return binary("add", Op::add, a, b, rule, rule);
}

Var operator-(const Var& a, const Var& b) {
  return binary(
      "subtract", Op::subtract, a, b,
      [](const Tensor& d, const Tensor&, const Tensor&, const Tensor&) { return d; },
      [](const Tensor& d, const Tensor&, const Tensor&, const Tensor&) { return element(Op::negate, d); });
}

Var operator*(const Var& a, const Var& b) {
  return binary(
      "multiply", Op::multiply, a, b,
      [](const Tensor& d, const Tensor&, const Tensor& b, const Tensor&) {
        return element(Op::multiply, d, b);
      },
      [](const Tensor& d, const Tensor& a, const Tensor&, const Tensor&) {
        return element(Op::multiply, d, a);
      });
}

Var operator/(const Var& a, const Var& b) {
  return binary(
      "divide", Op::divide, a, b,
      [](const Tensor& d, const Tensor&, const Tensor& b, const Tensor&) {
        return element(Op::divide, d, b);
      },
      [](const Tensor& d, const Tensor&, const Tensor& b, const Tensor& y) {
        return element(Op::negate, element(Op::divide, element(Op::multiply, d, y), b));
      });
}

Var minimum(const Var& a, const Var& b) {
  return binary(
      "minimum", Op::minimum, a, b,
      [](const Tensor& d, const Tensor& a, const Tensor& b, const Tensor&) {
        return element(Op::multiply, d, element(Op::greater, b, a, 1));
      },
      [](const Tensor& d, const Tensor& a, const Tensor& b, const Tensor&) {
        return element(Op::multiply, d, element(Op::greater, a, b));
      });
}

Var maximum(const Var& a, const Var& b) {
  return binary(
      "maximum", Op::maximum, a, b,
      [](const Tensor& d, const Tensor& a, const Tensor& b, const Tensor&) {
        return element(Op::multiply, d, element(Op::greater, a, b, 1));
      },
      [](const Tensor& d, const Tensor& a, const Tensor& b, const Tensor&) {
        return element(Op::multiply, d, element(Op::greater, b, a));
      });
}

Var operator+(const Var& a, double b) { return a + number("add", {"a", a}, b); }
Var operator+(double a, const Var& b) { return number("add", {"b", b}, a) + b; }
Var operator-(const Var& a, double b) { return a - number("subtract", {"a", a}, b); }
Var operator-(double a, const Var& b) { return number("subtract", {"b", b}, a) - b; }
Var operator*(const Var& a, double b) { return a * number("multiply", {"a", a}, b); }
Var operator*(double a, const Var& b) { return number("multiply", {"b", b}, a) * b; }
Var operator/(const Var& a, double b) { return a / number("divide", {"a", a}, b); }
Var operator/(double a, const Var& b) { return number("divide", {"b", b}, a) / b; }
Var minimum(const Var& a, double b) { return minimum(a, number("minimum", {"a", a}, b)); }
Var maximum(const Var& a, double b) { return maximum(a, number("maximum", {"a", a}, b)); }

Var operator-(const Var& x) {
  return unary("negate", Op::negate, x,
               [](const Tensor& d, const Tensor&, const Tensor&) { return element(Op::negate, d); });
}

Var tanh(const Var& x) {
  return unary("tanh", Op::tanh, x, [](const Tensor& d, const Tensor&, const Tensor& y) {
    return element(Op::tanh_adjoint, d, y);
  });
}

Var sigmoid(const Var& x) {
  return unary("sigmoid", Op::sigmoid, x, [](const Tensor& d, const Tensor&, const Tensor& y) {
    return element(Op::sigmoid_adjoint, d, y);
  });
}

Var relu(const Var& x) {
  return unary("relu", Op::relu, x, [](const Tensor& d, const Tensor&, const Tensor& y) {
    return element(Op::relu_adjoint, d, y);
  });
}

Var exp(const Var& x) {
  return unary("exp", Op::exp, x,
               [](const Tensor& d, const Tensor&, const Tensor& y) { return element(Op::multiply, d, y); });
}

Var log(const Var& x) {
  return unary("log", Op::log, x,
               [](const Tensor& d, const Tensor& x, const Tensor&) { return element(Op::divide, d, x); });
}

Var sqrt(const Var& x) {
  return unary("sqrt", Op::sqrt, x, [](const Tensor& d, const Tensor&, const Tensor& y) {
    return element(Op::divide, d, element(Op::add, y, y));
  });
}

Var abs(const Var& x) {
  return unary("abs", Op::abs, x, [](const Tensor& d, const Tensor& x, const Tensor&) {
    return element(Op::multiply, d, element(Op::sign, x));
  });
}

Var sign(const Var& x) { return common_tape("sign", {{"x", x}}).constant(element(Op::sign, x.value())); }

Var floor(const Var& x) { return common_tape("floor", {{"x", x}}).constant(element(Op::floor, x.value())); }

Var erf(const Var& x) {
  return unary("erf", Op::erf, x, [](const Tensor& d, const Tensor& x, const Tensor&) {
    const Tensor slope = element(Op::exp, element(Op::negate, element(Op::multiply, x, x)));
    return element(Op::multiply_constant, element(Op::multiply, d, slope), {}, 2 * std::numbers::inv_sqrtpi);
  });
}

Var sin(const Var& x) {
  return unary("sin", Op::sin, x, [](const Tensor& d, const Tensor& x, const Tensor&) {
    return element(Op::multiply, d, element(Op::cos, x));
  });
}

Var cos(const Var& x) {
  return unary("cos", Op::cos, x, [](const Tensor& d, const Tensor& x, const Tensor&) {
    return element(Op::negate, element(Op::multiply, d, element(Op::sin, x)));
  });
}

Var elementwise(ElementOp function, const Var& a, const Var& b) {
  switch (function) {
    case Op::negate: return -a;
    case Op::tanh: return tanh(a);
    case Op::sigmoid: return sigmoid(a);
    case Op::softplus: return softplus(a);
    case Op::relu: return relu(a);
    case Op::exp: return exp(a);
    case Op::log: return log(a);
    case Op::sqrt: return sqrt(a);
    case Op::abs: return abs(a);
    case Op::sign: return sign(a);
    case Op::floor: return floor(a);
    case Op::erf: return erf(a);
    case Op::sin: return sin(a);
    case Op::cos: return cos(a);
    case Op::add: return a + b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::divide: return a / b;
    case Op::minimum: return minimum(a, b);
    case Op::maximum: return maximum(a, b);
    default: throw Error(text_of("[", function_of(function).name, "] no operation of the tape."));
  }
}

Var square(const Var& x) {
  Tape& tape = common_tape("square", {{"x", x}});
  Tensor y = tape.allocate(x.shape(), x.dtype());
  apply_element(Op::multiply, y, x.value(), x.value());
  return tape.record(y, {x}, [x = x.value()](const Tensor& d, InputGradients& inputs) {
    inputs.add(0, element(Op::multiply, d, element(Op::add, x, x)));
  });
}

Var softplus(const Var& x) {
  Tape& tape = common_tape("softplus", {{"x", x}});
  Tensor y = tape.allocate(x.shape(), x.dtype());
  map(y, x.value(), [](double v) { return std::max(v, 0.0) + std::log1p(std::exp(-std::abs(v))); });
  return tape.record(y, {x}, [x = x.value()](const Tensor& d, InputGradients& inputs) {
    inputs.add(0, element(Op::multiply, d, element(Op::sigmoid, x)));
  });
}

Var pow_constant(const Var& x, double exponent) {
  Tape& tape = common_tape("pow_constant", {{"x", x}});
  Tensor y = tape.allocate(x.shape(), x.dtype());
  map(y, x.value(), [exponent](double v) { return std::pow(v, exponent); });
  return tape.record(y, {x}, [x = x.value(), exponent](const Tensor& d, InputGradients& inputs) {
    Tensor slope(x.shape(), x.dtype());
    map(slope, x, [exponent](double v) { return exponent == 0 ? 0 : exponent * std::pow(v, exponent - 1); });
    inputs.add(0, element(Op::multiply, d, slope));
  });
}

}  // namespace lagtape
