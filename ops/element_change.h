#pragma once

#include <optional>
#include <vector>

#include "lagtape/ops/kernels/element_functions.h"

namespace lagtape {

/// The forward derivative of an element-wise function, from its adjoint rule: the rule is linear in the
/// adjoint, element by element, so passing a change instead of the adjoint gives the change of the result. `V`
/// are values of a step (StepVar) or of the outer tape (Var).
template <ElementOperand V>
class ElementChange final : public ElementAdjoint {
 public:
  /// y = f(a, b), where the operand that changes by `change` is a, b, or both if they are the same. Without b,
  /// pass a for b too.
  ElementChange(const V& a, const V& b, const V& y, const V& change, bool by_a, bool by_b)
      : ElementAdjoint(0, 1, 2, 3, 0), values_{a, b, y, change}, changes_{by_a, by_b} {}

  int element(ElementOp f, int left, int right, double k) override {
    values_.push_back(value(f, values_[left], right < 0 ? values_[left] : values_[right], k));
    return static_cast<int>(values_.size()) - 1;
  }
  bool has_gradient(Value operand) const override { return changes_[operand.id]; }
  void add(Value operand, Value value) override {
    if (has_gradient(operand)) result = result ? *result + values_[value.id] : values_[value.id];
  }
  void subtract(Value operand, Value value) override {
    if (has_gradient(operand)) result = result ? *result - values_[value.id] : -values_[value.id];
  }

  std::optional<V> result;

 private:
  /// Functions that occur only in adjoints are composed of functions of steps.
  static V value(ElementOp f, const V& a, const V& b, double k) {
    switch (f) {
      case ElementOp::add_constant: return a + k;
      case ElementOp::multiply_constant: return a * k;
      case ElementOp::constant_minus: return k - a;
      case ElementOp::constant_over: return k / a;
      case ElementOp::tanh_adjoint: return a * (1.0 - b * b);
      case ElementOp::sigmoid_adjoint: return a * (b * (1.0 - b));
      case ElementOp::greater: return k == 1 ? 1.0 - sign(relu(b - a)) : sign(relu(a - b));
      default: return function_of(f).arrays == 1 ? elementwise(f, a) : elementwise(f, a, b);
    }
  }

  std::vector<V> values_;
  bool changes_[2];
};

}  // namespace lagtape
