#include "lagtape/ops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/broadcast.h"
#include "lagtape/ops/element.h"
#include "lagtape/ops/element_change.h"

namespace lagtape {
namespace {

using Op = ElementOp;

bool is_finite(const Tensor& x) {
  return with_scalar(x.dtype(), [&]<class T>() {
    bool finite = true;
    for (const T value : x.values<T>()) finite &= std::abs(value) <= std::numeric_limits<T>::max();
    return finite;
  });
}

/// The reverse mode of a function on tensors, all of the result's shape.
class TensorAdjoint final : public ElementAdjoint {
 public:
  TensorAdjoint(const ElementValues& at, const Tensor& d, InputGradients& inputs, Shape a, Shape b)
      : ElementAdjoint(0, 1, 2, 3, 0),
        inputs_(inputs),
        shapes_{std::move(a), std::move(b)},
        values_{at.a, at.b, at.y, d} {}

  int element(Op f, int a, int b, double k) override {
    values_.push_back(lagtape::element(f, values_[a], b < 0 ? Tensor() : values_[b], k));
    return static_cast<int>(values_.size()) - 1;
  }
  bool has_gradient(Value operand) const override { return inputs_.wanted(operand.id); }
  void add(Value operand, Value value) override {
    if (has_gradient(operand))
      inputs_.add(operand.id, sum_to(guarded(values_[value.id]), shapes_[operand.id]));
  }
  void subtract(Value operand, Value value) override {
    if (has_gradient(operand)) add(operand, {this, element(Op::negate, value.id, -1, 0)});
  }
  /// A step computes dL/db as (d / b) y. Derived weights still use d y / b, which gives different bits.
  void divide() {
    if (has_gradient(a)) add(a, elementwise(Op::divide, d, b));
    if (has_gradient(b)) subtract(b, elementwise(Op::divide, elementwise(Op::multiply, d, y), b));
  }

 private:
  /// 0 where the result's adjoint is 0, even where the derivative is infinite or NaN.
  Tensor guarded(const Tensor& value) const {
    return is_finite(value) ? value : lagtape::element(Op::where_nonzero, value, values_[d.id]);
  }

  InputGradients& inputs_;
  Shape shapes_[2];
  std::vector<Tensor> values_;
};

/// Writes f(x) for every element of x, computed in double.
template <class F>
void map(Tensor& out, const Tensor& x, F f) {
  with_scalar(x.dtype(), [&]<class T>() {
    const auto from = x.values<T>();
    std::transform(from.begin(), from.end(), out.values<T>().begin(),
                   [&](T value) { return static_cast<T>(f(value)); });
  });
}

/// The change of y = f(a, b) due to changes of its operands.
Tangent tangent_of(Op function) {
  return [function](std::span<const Var> inputs, const Var& y, std::span<const Var> changes) {
    Var sum;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!changes[i].is_of_tape()) continue;
      ElementChange<Var> rule(inputs.front(), inputs.back(), y, changes[i], i == 0, i == 1);
      function_of(function).reverse(rule);
      if (rule.result) sum = sum.is_of_tape() ? sum + *rule.result : *rule.result;
    }
    if (!sum.is_of_tape() || sum.shape() == y.shape()) return sum;
    return sum + y.tape().constant(Tensor(y.shape(), y.dtype()));  // repeated like the operand
  };
}

Var number(const char* name, const NamedInput& like, double value) {
  return common_tape(name, {like}).constant(Tensor::scalar(value, like.var.dtype()));
}

}  // namespace

Var elementwise_at(const ElementValues& at, Op function, const Tensor& y, const Var& a, const Var& b) {
  if (function_of(function).reverse == nullptr) return a.tape().constant(y);
  const bool is_binary = function_of(function).arrays > 1;
  const std::vector<Var> inputs = is_binary ? std::vector{a, b} : std::vector{a};
  const Shape shape_a = a.shape(), shape_b = is_binary ? b.shape() : Shape();
  return a.tape().record(
      y, inputs,
      [=](const Tensor& d, InputGradients& gradients) {
        const Tensor wide_b = is_binary ? expand(at.b, d.shape()) : Tensor();
        TensorAdjoint adjoint({expand(at.a, d.shape()), wide_b, expand(at.y, d.shape())}, d, gradients,
                              shape_a, shape_b);
        if (function == Op::divide) return adjoint.divide();
        function_of(function).reverse(adjoint);
      },
      tangent_of(function));
}

Var elementwise(Op function, const Var& a, const Var& b) {
  const ElementFunction& f = function_of(function);
  if (f.notation == ElementNotation::none) throw Error(text_of("[", f.name, "] no operation of the tape."));
  const bool is_binary = f.arrays > 1;
  Tape& tape = is_binary ? common_tape(f.name, {{"a", a}, {"b", b}}) : common_tape(f.name, {{"x", a}});
  const Shape shape = is_binary ? broadcast_shape(f.name, {"a", a}, {"b", b}) : a.shape();
  Tensor y = tape.allocate(shape, a.dtype());
  if (function == Op::softplus) {
    map(y, a.value(), [&](double v) { return f.value(v, 0); });
  } else if (is_binary) {
    apply_element(function, y, expand(a.value(), shape), expand(b.value(), shape));
  } else {
    apply_element(function, y, a.value());
  }
  return elementwise_at({a.value(), is_binary ? b.value() : Tensor(), y}, function, y, a, b);
}

Var operator+(const Var& a, const Var& b) { return elementwise(Op::add, a, b); }
Var operator-(const Var& a, const Var& b) { return elementwise(Op::subtract, a, b); }
Var operator*(const Var& a, const Var& b) { return elementwise(Op::multiply, a, b); }
Var operator/(const Var& a, const Var& b) { return elementwise(Op::divide, a, b); }
Var operator-(const Var& x) { return elementwise(Op::negate, x); }

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

Var square(const Var& x) {
  Tape& tape = common_tape("square", {{"x", x}});
  Tensor y = tape.allocate(x.shape(), x.dtype());
  apply_element(Op::multiply, y, x.value(), x.value());
  return tape.record(
      y, {x},
      [x = x.value()](const Tensor& d, InputGradients& inputs) {
        inputs.add(0, element(Op::multiply, d, element(Op::add, x, x)));
      },
      [](auto inputs, const Var&, auto changes) { return changes[0] * (inputs[0] + inputs[0]); });
}

Var pow_constant(const Var& x, double exponent) {
  Tape& tape = common_tape("pow_constant", {{"x", x}});
  Tensor y = tape.allocate(x.shape(), x.dtype());
  map(y, x.value(), [exponent](double v) { return std::pow(v, exponent); });
  return tape.record(
      y, {x},
      [x = x.value(), exponent](const Tensor& d, InputGradients& inputs) {
        Tensor slope(x.shape(), x.dtype());
        map(slope, x,
            [exponent](double v) { return exponent == 0 ? 0 : exponent * std::pow(v, exponent - 1); });
        inputs.add(0, element(Op::multiply, d, slope));
      },
      [exponent](auto inputs, const Var&, auto changes) {
        return exponent == 0 ? Var() : changes[0] * (exponent * pow_constant(inputs[0], exponent - 1));
      });
}

}  // namespace lagtape
