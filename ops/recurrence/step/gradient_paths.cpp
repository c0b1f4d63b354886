#include "lagtape/ops/recurrence/step/gradient_paths.h"

#include <algorithm>

namespace lagtape {
namespace {

/// Calls reach(operand) for the operands that the derivative of an operation reaches.
template <class Reach>
void for_reached_operands(const Instruction& v, Reach reach) {
  const bool chooses = v.computes(ElementOp::where_positive), replaces = v.computes(ElementOp::surrogate);
  if (!passes_gradient(v)) return;
  if (v.a >= 0 && !replaces) reach(v.a);
  if (v.b >= 0 && !chooses) reach(v.b);
}

/// Which values depend on the weights and, if requested, the inputs of any step.
std::vector<bool> dependents(const StepProgram& program, const std::vector<bool>& weights, bool input) {
  std::vector<bool> depends(program.values.size());
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < program.values.size(); ++i) {
      const Instruction& v = program.values[i];
      const auto of = [&](int value) { return value >= 0 && depends[static_cast<std::size_t>(value)]; };
      bool found = of(v.a) || of(v.b) || (input && v.op == StepOp::input);
      if (v.op == StepOp::weight || v.op == StepOp::product)
        found |= weights[static_cast<std::size_t>(v.index)];
      if (v.op == StepOp::state || v.op == StepOp::lag || v.op == StepOp::real_lag)
        found |= of(program.states[static_cast<std::size_t>(v.index)].next);
      more |= found && !depends[i];
      depends[i] = found;
    }
  }
  return depends;
}

}  // namespace

bool passes_gradient(const Instruction& v) {
  return v.op != StepOp::element || function_of(v.element).reverse != nullptr || v.element == ElementOp::stop;
}

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
  if (paths.lost.empty() && paths.input) return paths;
  weights.flip();
  const std::vector<bool> lost = dependents(program, weights, !paths.input);
  for (const NamedValue& named : program.named) {
    const auto value = static_cast<std::size_t>(named.value);
    if (!names_end(named.name) || !reached[value] || !lost[value]) continue;
    const std::string place = named.name.substr(0, named.name.find(kEndOfPlace));
    if (std::ranges::find(paths.ends, place) == paths.ends.end()) paths.ends.push_back(place);
  }
  return paths;
}

}  // namespace lagtape
