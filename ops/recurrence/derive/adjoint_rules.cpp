#include "lagtape/ops/recurrence/derive/adjoint_rules.h"

#include <numbers>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/reversible.h"

namespace lagtape::recurrence {
namespace {

class AdjointRules {
 public:
  AdjointRules(const StepProgram& program, const Op& op, AdjointSums& adjoints)
      : program_(program),
        op_(op),
        adjoints_(adjoints),
        d_(adjoints.of(op.out).value),
        negated_(adjoints.of(op.out).negated) {}

  void reverse() {
    switch (op_.kind) {
      case Op::Kind::element: return reverse_element();
      case Op::Kind::sum: return to(op_.a, spread(Op::Kind::broadcast, d_, shape(op_.a), adjoints_));
      case Op::Kind::broadcast: return to(op_.a, spread(Op::Kind::sum, d_, shape(op_.a), adjoints_));
      case Op::Kind::concatenate:
        to(op_.a, part(Op::Kind::slice, 0, shape(op_.a)));
        return to(op_.b, part(Op::Kind::slice, static_cast<int>(shape(op_.a).size), shape(op_.b)));
      case Op::Kind::slice: return to(op_.a, part(Op::Kind::pad, op_.index, shape(op_.a)));
      case Op::Kind::grid_update:  // the rounding's derivative counts as one
        to(program_.states[op_.index].value, d_);
        return op_.k < 0 ? away(op_.a, d_) : to(op_.a, d_);
      default: return;  // draws and the step index have no gradient
    }
  }

 private:
  using E = ElementOp;

  void reverse_element() {
    const int a = op_.a, b = op_.b, y = op_.out;
    switch (op_.element) {
      case E::copy: return to(a, with_shape(shape(a)));
      case E::negate: return away(a, d_);
      case E::tanh: return to(a, element(E::tanh_adjoint, d_, y));
      case E::sigmoid: return to(a, element(E::sigmoid_adjoint, d_, y));
      case E::softplus: return to(a, times(element(E::sigmoid, a)));
      case E::relu: return to(a, element(E::relu_adjoint, d_, y));
      case E::exp: return to(a, times(y));
      case E::log: return to(a, element(E::divide, d_, a));
      case E::sqrt: return to(a, element(E::multiply_constant, element(E::divide, d_, y), -1, 0.5));
      case E::abs: return to(a, times(element(E::sign, a)));
      case E::sign:
      case E::floor: return;
      case E::sin: return to(a, times(element(E::cos, a)));
      case E::cos: return away(a, times(element(E::sin, a)));
      case E::erf: {  // 2 / sqrt(pi) e^(-a^2)
        const int slope = element(E::exp, element(E::negate, element(E::multiply, a, a)));
        return to(a, element(E::multiply_constant, times(slope), -1, 2 * std::numbers::inv_sqrtpi));
      }
      case E::add: to(a, d_); return to(b, d_);
      case E::subtract: to(a, d_); return away(b, d_);
      case E::multiply:
        if (adjoints_.is_active(a)) to(a, times(b));
        if (adjoints_.is_active(b)) to(b, times(a));
        return;
      case E::divide: {
        const int quotient = element(E::divide, d_, b);
        to(a, quotient);
        if (adjoints_.is_active(b)) away(b, element(E::multiply, quotient, y));
        return;
      }
      case E::minimum: return choose(b, a);
      case E::maximum: return choose(a, b);
      case E::add_constant: return to(a, d_);
      case E::multiply_constant: return to(a, element(E::multiply_constant, d_, -1, op_.k));
      case E::minimum_constant: return choose_constant(true);
      case E::maximum_constant: return choose_constant(false);
      case E::constant_minus: return away(a, d_);
      case E::constant_over: return away(a, times(element(E::divide, y, a)));
      default: throw Error("[adjoint] a forward op without a rule");
    }
  }

  /// Sends the adjoint to a where `larger` >= `smaller`, else to b, so that ties go to the first operand.
  void choose(int larger, int smaller) {
    const int to_a = element(E::greater, larger, smaller, 1);
    to(op_.a, times(to_a));
    if (adjoints_.is_active(op_.b)) to(op_.b, times(element(E::constant_minus, to_a, -1, 1)));
  }
  void choose_constant(bool minimum) {
    Op limit;
    limit.element = E::fill;
    limit.k = op_.k;
    const int k = adjoints_.record(limit, shape(op_.a));
    const int to_a = element(E::greater, minimum ? k : op_.a, minimum ? op_.a : k, 1);
    to(op_.a, times(to_a));
  }

  int with_shape(const RowShape& wanted) {
    if (adjoints_.shape(d_) == wanted) return d_;
    Op op;
    op.a = d_;
    return adjoints_.record(op, wanted);
  }
  /// Records a slice of the adjoint from element `first` on, or the adjoint padded to something wider.
  int part(Op::Kind kind, int first, const RowShape& wanted) {
    Op op;
    op.kind = kind;
    op.a = d_;
    op.index = first;
    return adjoints_.record(op, wanted);
  }

  RowShape shape(int v) const { return adjoints_.shape(v); }
  int element(E e, int a, int b = -1, double k = 0) { return adjoints_.element(e, a, b, k); }
  int times(int factor) { return element(E::multiply, d_, factor); }
  void to(int operand, int value) { adjoints_.contribute(operand, value, negated_); }
  void away(int operand, int value) { adjoints_.contribute(operand, value, !negated_); }

  const StepProgram& program_;
  const Op& op_;
  AdjointSums& adjoints_;
  const int d_;  // the result's adjoint without its sign
  const bool negated_;
};

}  // namespace

void reverse_row_op(const StepProgram& program, const Op& op, AdjointSums& adjoints) {
  AdjointRules(program, op, adjoints).reverse();
}

int spread(Op::Kind kind, int a, RowShape shape, AdjointSums& adjoints) {
  Op op;
  op.kind = kind;
  op.a = a;
  return adjoints.record(op, shape);
}

}  // namespace lagtape::recurrence
