#include "lagtape/ops/recurrence/equations/right_side.h"

#include <algorithm>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

/// The rule of an element-wise function, with 1 for the adjoint of its result: the amount added to an operand's
/// adjoint is the derivative with respect to that operand.
class ElementPartials final : public ElementAdjoint {
 public:
  ElementPartials(StepTape& tape, int id)
      : ElementAdjoint(tape.at(id).a, tape.at(id).b, id, tape.constant(1).id(), 0), tape_(tape), id_(id) {}

  RightSide::Partials partials() {
    const ElementFunction& function = function_of(tape_.at(id_).element);
    if (function.op == ElementOp::copy) return {d.id, -1};
    if (function.reverse != nullptr) function.reverse(*this);
    return {by_a_.id(), by_b_.id()};
  }

  int element(ElementOp f, int a, int b, double k) override {
    const StepVar x = var(a), y = b < 0 ? StepVar() : var(b);
    switch (f) {
      case ElementOp::add_constant: return (x + k).id();
      case ElementOp::multiply_constant: return (x * k).id();
      case ElementOp::constant_minus: return (k - x).id();
      case ElementOp::greater: return (k == 1 ? 1 - above(y, x) : above(x, y)).id();
      case ElementOp::tanh_adjoint: return (x * (1 - y * y)).id();
      case ElementOp::sigmoid_adjoint: return (x * (y * (1 - y))).id();
      default: return b < 0 ? tape_.unary(f, x).id() : tape_.binary(f, x, y).id();
    }
  }
  bool has_gradient(Value operand) const override { return tape_.at(operand.id).op != StepOp::constant; }
  void add(Value operand, Value value) override { contribute(operand, var(value.id)); }
  void subtract(Value operand, Value value) override { contribute(operand, -var(value.id)); }

 private:
  StepVar var(int id) const { return tape_.var(id); }
  /// For a function of equal operands, y * y, the entire derivative is assigned to the first.
  void contribute(Value operand, StepVar value) {
    StepVar& sum = operand.id == a.id ? by_a_ : by_b_;
    sum = sum.id() < 0 ? value : sum + value;
  }

  StepTape& tape_;
  int id_;
  StepVar by_a_, by_b_;
};

}  // namespace

std::vector<RightSide::Partials> record_partials(StepTape& tape) {
  const auto count = static_cast<int>(tape.recorded().values.size());
  std::vector<RightSide::Partials> partials(static_cast<std::size_t>(count));
  for (int id = 0; id < count; ++id)
    if (tape.at(id).op == StepOp::element)
      partials[static_cast<std::size_t>(id)] = ElementPartials(tape, id).partials();
  partials.resize(tape.recorded().values.size());
  return partials;
}

int record_derivative(StepTape& tape, int y, int by) {
  std::map<int, StepVar> known;  // of values that depend on `by`
  known[by] = tape.constant(1);
  for (int id = by + 1; id <= y; ++id) {
    const Instruction v = tape.at(id);
    const auto a = known.find(v.a), b = known.find(v.b);
    if (a == known.end() && b == known.end()) continue;
    if (v.op != StepOp::element)
      throw InputError({}, Rule::not_supported,
                       "a history that depends on t is made of element-wise functions of one number");
    const RightSide::Partials partials = ElementPartials(tape, id).partials();
    StepVar sum;
    if (a != known.end() && partials.a >= 0) sum = tape.var(partials.a) * a->second;
    if (b != known.end() && partials.b >= 0) {
      const StepVar term = tape.var(partials.b) * b->second;
      sum = sum.id() < 0 ? term : sum + term;
    }
    if (sum.id() >= 0) known[id] = sum;
  }
  const auto found = known.find(y);
  return found == known.end() ? -1 : found->second.id();
}

bool reads_input(const RightSide& side) {
  const std::vector<Instruction>& values = side.program.values;
  const auto is_input = [&](int id) { return id >= 0 && values[id].op == StepOp::input; };
  const auto reads = [&](const Instruction& v) { return !is_leaf(v.op) && (is_input(v.a) || is_input(v.b)); };
  return is_input(side.output) || std::ranges::any_of(values, reads) ||
         std::ranges::any_of(side.states, is_input, &RightSide::State::slope);
}

std::vector<bool> constant_values(const StepProgram& program) {
  std::vector<bool> constant;
  for (const Instruction& v : program.values)
    constant.push_back(is_leaf(v.op) ? v.op == StepOp::weight || v.op == StepOp::constant
                                     : constant[v.a] && (v.b < 0 || constant[v.b]));
  return constant;
}

namespace {

/// Finds the factor of y in a term that is a product of y and something constant in time, or a sum of such
/// terms.
class FactorFinder {
 public:
  FactorFinder(StepTape& tape, int y) : tape_(tape), constant_(constant_values(tape.recorded())), y_(y) {}

  /// No value if the term has none.
  StepVar factor_in(int term) {
    if (term == y_) return tape_.constant(1);
    const Instruction v = tape_.at(term);
    if (v.op != StepOp::element) return {};
    switch (v.element) {
      case ElementOp::negate: return negated(factor_in(v.a));
      case ElementOp::add: return sum(factor_in(v.a), factor_in(v.b));
      case ElementOp::subtract: return sum(factor_in(v.a), negated(factor_in(v.b)));
      case ElementOp::multiply:
        if (constant_[v.a]) return scaled(factor_in(v.b), ElementOp::multiply, v.a);
        return constant_[v.b] ? scaled(factor_in(v.a), ElementOp::multiply, v.b) : StepVar();
      case ElementOp::divide:
        return constant_[v.b] ? scaled(factor_in(v.a), ElementOp::divide, v.b) : StepVar();
      default: return {};
    }
  }

 private:
  static StepVar negated(StepVar a) { return a.id() < 0 ? a : -a; }
  static StepVar sum(StepVar a, StepVar b) { return a.id() < 0 ? b : b.id() < 0 ? a : a + b; }
  StepVar scaled(StepVar factor, ElementOp by, int constant) {
    return factor.id() < 0 ? factor : tape_.binary(by, factor, tape_.var(constant));
  }

  StepTape& tape_;
  std::vector<bool> constant_;
  int y_;
};

}  // namespace

int record_rate(StepTape& tape, int slope, int y) { return FactorFinder(tape, y).factor_in(slope).id(); }

}  // namespace lagtape
