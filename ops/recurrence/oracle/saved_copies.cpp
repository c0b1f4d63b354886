#include "lagtape/ops/recurrence/oracle/saved_copies.h"

#include "lagtape/core/error.h"
#include "lagtape/ops/broadcast.h"
#include "lagtape/ops/element.h"
#include "lagtape/ops/recurrence/derive/adjoint.h"
#include "lagtape/ops/recurrence/oracle/unroll_product.h"
#include "lagtape/ops/shape.h"

namespace lagtape::recurrence {

SavedCopies::SavedCopies(const StepProgram& program)
    : program_(program),
      rounded_(rounded_values(program)),
      rounded_sums_(rounded_sums(program)),
      kept_(program.values.size(), false),
      seen_(program.values.size()) {
  kept_[program.output] = true;
  for (const StateDefinition& state : program.states) kept_[state.next] = true;
}

void SavedCopies::take(int id, const Tensor& value) { seen_[id] = seen(id, value); }

Tensor SavedCopies::seen(int id, const Tensor& value) const {
  if (rounded_[id]) return rounded_to_bf16(value);
  if (kept_[id]) return value;
  const Instruction& v = program_.values[id];
  switch (v.op) {
    case StepOp::reshape: return at(v.a).reshaped(value.shape());
    case StepOp::broadcast: {
      Shape with_axis = at(v.a).shape();
      with_axis.push_back(1);
      return expand(at(v.a).reshaped(with_axis), value.shape());
    }
    case StepOp::view: {
      const Tensor& a = at(v.a);
      Tape tape;
      Shape strides = strides_of(v);
      strides.insert(strides.begin(), a.numel() / a.size(0));
      return as_strided(tape.constant(a), value.shape(), v.index, strides).value();
    }
    case StepOp::element: {
      if (function_of(v.element).cost == ElementCost::many) return value;
      const auto operand = [&](int o) { return o < 0 ? Tensor() : expand(at(o), value.shape()); };
      return element(v.element, operand(v.a), operand(v.b));
    }
    default: return value;
  }
}

}  // namespace lagtape::recurrence
