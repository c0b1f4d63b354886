#include "lagtape/ops/recurrence/step/gradient_paths.h"

namespace lagtape {
namespace {

/// Calls reach(operand) for the operands of an operation that its derivative leads to.
template <class Reach>
void for_reached_operands(const Instruction& v, Reach reach) {
  const bool chooses = v.computes(ElementOp::where_positive), replaces = v.computes(ElementOp::surrogate);
  const bool passes =
      v.op != StepOp::element || function_of(v.element).reverse != nullptr || v.element == ElementOp::stop;
  if (!passes) return;
  if (v.a >= 0 && !replaces) reach(v.a);
  if (v.b >= 0 && !chooses) reach(v.b);
}

}  // namespace

GradientPaths gradient_paths(const StepProgram& program) {
  std::vector<bool> reached(program.values.size()), weights(program.weights.size());
  reached[static_cast<std::size_t>(program.output)] = true;
  GradientPaths paths;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = program.values.size(); i-- > 0;) {
      if (!reached[i]) continue;
      const Instruction& v = program.values[i];
      const auto reach = [&](int value) {
        more |= !reached[static_cast<std::size_t>(value)];
        reached[static_cast<std::size_t>(value)] = true;
      };
      for_reached_operands(v, reach);
      if (v.op == StepOp::input) paths.input = true;
      if (v.op == StepOp::weight || v.op == StepOp::product)
        weights[static_cast<std::size_t>(v.index)] = true;
      if (v.op == StepOp::state || v.op == StepOp::lag || v.op == StepOp::real_lag)
        reach(program.states[static_cast<std::size_t>(v.index)].next);
    }
  }
  for (std::size_t w = 0; w < weights.size(); ++w)
    if (!weights[w]) paths.lost.push_back(program.weights[w].name);
  return paths;
}

}  // namespace lagtape
