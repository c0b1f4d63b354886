#include "lagtape/ops/recurrence/derive/adjoint_rules.h"

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/reversible.h"

namespace lagtape::recurrence {
namespace {

class AdjointRules final : public ElementAdjoint {
 public:
  AdjointRules(const StepProgram& program, const Op& op, AdjointSums& adjoints, bool guarded)
      : ElementAdjoint(op.a, op.b, op.out, adjoints.of(op.out).value, op.k),
        program_(program),
        op_(op),
        adjoints_(adjoints),
        d_(d.id),
        negated_(adjoints.of(op.out).negated),
        guarded_(guarded && op.kind == Op::Kind::element && may_be_infinite(op.element)) {}

  void reverse() {
    switch (op_.kind) {
      case Op::Kind::element: return reverse_element();
      case Op::Kind::sum: return to(op_.a, spread(Op::Kind::broadcast, d_, shape(op_.a), adjoints_));
      case Op::Kind::broadcast: return to(op_.a, spread(Op::Kind::sum, d_, shape(op_.a), adjoints_));
      case Op::Kind::concatenate:
        to(op_.a, part(Op::Kind::slice, 0, shape(op_.a)));
        return to(op_.b, part(Op::Kind::slice, static_cast<int>(shape(op_.a).size), shape(op_.b)));
      case Op::Kind::slice: return to(op_.a, part(Op::Kind::pad, op_.index, shape(op_.a)));
      case Op::Kind::view: return to(op_.a, part(Op::Kind::collect, op_.index, shape(op_.a)));
      case Op::Kind::grid_update:  // the rounding's derivative counts as one
        to(program_.states[op_.index].value, d_);
        return op_.k < 0 ? away(op_.a, d_) : to(op_.a, d_);
      default: return;  // draws and the step index have no gradient
    }
  }

  int element(ElementOp f, int a, int b, double k) override { return adjoints_.element(f, a, b, k); }
  bool has_gradient(Value operand) const override { return adjoints_.is_active(operand.id); }
  void add(Value operand, Value value) override { to(operand.id, value.id); }
  void subtract(Value operand, Value value) override { away(operand.id, value.id); }

 private:
  void reverse_element() {
    const ElementFunction& f = function_of(op_.element);
    switch (op_.element) {
      case ElementOp::copy: return to(op_.a, with_shape(shape(op_.a)));
      case ElementOp::minimum_constant: return choose_constant(true);
      case ElementOp::maximum_constant: return choose_constant(false);
      default: break;
    }
    if (f.reverse != nullptr) return f.reverse(*this);
    if (f.notation == ElementNotation::none) throw Error("[adjoint] a forward op without a rule");
  }

  void choose_constant(bool minimum) {
    Op limit;
    limit.element = ElementOp::fill;
    limit.k = op_.k;
    const int k = adjoints_.record(limit, shape(op_.a));
    const int to_a = element(ElementOp::greater, minimum ? k : op_.a, minimum ? op_.a : k, 1);
    to(op_.a, element(ElementOp::multiply, d_, to_a, 0));
  }

  int with_shape(const RowShape& wanted) {
    if (adjoints_.shape(d_) == wanted) return d_;
    Op op;
    op.a = d_;
    return adjoints_.record(op, wanted);
  }
  /// Records a slice of the adjoint starting at element `first`, or the adjoint padded or collected to another
  /// shape.
  int part(Op::Kind kind, int first, const RowShape& wanted) {
    Op op;
    op.kind = kind;
    op.a = d_;
    op.index = first;
    op.strides = op_.strides;
    return adjoints_.record(op, wanted);
  }

  RowShape shape(int v) const { return adjoints_.shape(v); }
  void to(int operand, int value) { adjoints_.contribute(operand, guarded(value), negated_); }
  void away(int operand, int value) { adjoints_.contribute(operand, guarded(value), !negated_); }
  int guarded(int value) { return guarded_ ? element(ElementOp::where_nonzero, value, d_, 0) : value; }

  /// Whether the derivative of a function can be infinite or NaN, so that 0 times it is not 0.
  static bool may_be_infinite(ElementOp op) {
    using enum ElementOp;
    switch (op) {
      case copy:
      case negate:
      case relu:
      case add:
      case subtract:
      case minimum:
      case maximum:
      case add_constant:
      case multiply_constant:
      case minimum_constant:
      case maximum_constant:
      case constant_minus:
      case where_positive:
      case surrogate: return false;
      default: return true;
    }
  }

  const StepProgram& program_;
  const Op& op_;
  AdjointSums& adjoints_;
  const int d_;  // the result's adjoint without its sign
  const bool negated_;
  const bool guarded_;  // 0 where the result's adjoint is 0
};

}  // namespace

void reverse_row_op(const StepProgram& program, const Op& op, AdjointSums& adjoints, bool guarded) {
  AdjointRules(program, op, adjoints, guarded).reverse();
}

int spread(Op::Kind kind, int a, RowShape shape, AdjointSums& adjoints) {
  Op op;
  op.kind = kind;
  op.a = a;
  return adjoints.record(op, shape);
}

}  // namespace lagtape::recurrence
