#include "lagtape/cells/build/derived_step.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace lagtape {

std::function<StepProgram()> derived_step(std::vector<UnitWeight> weights) {
  return [weights = std::move(weights)] {
    StepTape tape(1);
    std::map<std::string, StepVar> parameters;
    StepVar last;
    for (const UnitWeight& weight : weights) {
      std::vector<StepVar> of;
      for (const std::string& name : weight.of) {
        if (!parameters.contains(name)) parameters[name] = tape.vector(name, weight.size);
        of.push_back(parameters[name]);
      }
      last = weight.value(of);
      tape.set_next(tape.state(weight.name, last.shape()), last);
    }
    tape.set_output(last);
    return tape.finish();
  };
}

std::function<StepProgram()> derived_step(const EquationCell& cell, const CompiledCell& compiled,
                                          std::int64_t units, std::int64_t input) {
  EquationCell lines = cell;
  lines.lags.clear(), lines.reads.clear(), lines.states.clear(), lines.step.clear(), lines.derived.clear();
  std::vector<std::string> names;
  std::set<std::string> needed;
  for (const WeightDefinition& weight : compiled.program.weights) {
    const bool derives =
        std::ranges::find(compiled.derived, weight.name, &DerivedWeight::name) != compiled.derived.end();
    if (!derives || weight.shape.size() != 1) continue;
    const std::string state = text_of("derived_", names.size());
    lines.states.push_back({state, {text_of(weight.shape[0])}});
    names.push_back(weight.name);
    needed.insert(weight.name);
    lines.output = state + "'";
  }
  for (auto weight = compiled.derived.rbegin(); weight != compiled.derived.rend(); ++weight)
    if (needed.contains(weight->name)) needed.insert(weight->of.begin(), weight->of.end());
  for (const auto& [name, value] : cell.derived)
    if (needed.contains(name)) lines.step.push_back(name + " = " + value);
  for (std::size_t i = 0; i < names.size(); ++i)
    lines.step.push_back(text_of(lines.states[i].name, "' = ", names[i]));
  std::erase_if(lines.weights, [&](const EquationCell::Named& w) { return !needed.contains(w.name); });
  return [lines = std::move(lines), names = std::move(names), units, input] {
    StepProgram program = compile_equations(lines, units, input);
    for (std::size_t i = 0; i < names.size(); ++i) program.states[i].name = names[i];
    return program;
  };
}

}  // namespace lagtape
