#include "lagtape/ops/recurrence/step/resets.h"

#include <algorithm>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/canonical_form.h"
#include "lagtape/ops/recurrence/step/step_copy.h"

namespace lagtape {
namespace {

constexpr const char* kCount = "resets";  ///< the state that counts them

void refuse_grid(const StepProgram& program) {
  for (const StateDefinition& state : program.states)
    if (state.arithmetic == Arithmetic::grid)
      throw InputError({.op = "reset"}, Rule::not_supported,
                       text_of("state ", state.name, " is on the grid and cannot begin again"), {},
                       "Give the layer \"arithmetic\": \"float\".");
}

class StepWithResetColumn final : public StepCopy {
 public:
  StepWithResetColumn(const StepProgram& program, std::int64_t column) : StepCopy(program) {
    refuse_grid(program);
    const StepVar value = tape().sum(tape().slice(tape().input(), column, column + 1));
    reset_ = sign(relu(value));
    if (program.largest_lag() == 0) return;
    count_ = tape().state(kCount, RowShape::scalar());
    tape().set_next(count_, count_ + reset_);
  }

 private:
  StepVar past(int state, std::int64_t lag) override {
    // The resets from that step to this one.
    const StepVar resets = lag == 0 ? reset_ : count_ - tape().lag(count_, lag) + reset_;
    return where_positive(StepCopy::past(state, lag), 0.5 - resets);
  }
  StepVar real_past(const Instruction&) override {
    throw InputError({.op = "reset"}, Rule::not_supported, "a step with trained lags has no resets");
  }
  StepVar step_index(const Instruction& index) override {
    return index.lag > 1 ? floor(tape().step_index() / static_cast<double>(index.lag)) : tape().step_index();
  }

  StepVar reset_, count_;
};

}  // namespace

StepProgram with_reset_column(const StepProgram& program, std::int64_t column) {
  return StepWithResetColumn(program, column).record();
}

std::optional<StepWithoutResets> without_reset_column(const StepProgram& asking) {
  StepWithoutResets found{asking};
  StepProgram& program = found.program;
  const auto value = [&](int v) -> const Instruction& { return asking.values[static_cast<std::size_t>(v)]; };
  std::vector<int> same(asking.values.size());  // by value: the one that replaces it
  bool chooses = false;
  for (int v = 0; v < static_cast<int>(same.size()); ++v) {
    const Instruction& i = value(v);
    const bool past = i.a >= 0 && (value(i.a).op == StepOp::state || value(i.a).op == StepOp::lag);
    const bool choice = i.computes(ElementOp::where_positive) && past;
    same[v] = choice ? i.a : v;
    chooses = chooses || choice;
    if (!i.computes(ElementOp::sign)) continue;
    for (int of = i.a; of >= 0; of = value(of).a)
      if (value(of).op == StepOp::slice && value(value(of).a).op == StepOp::input)
        found.column = found.column < 0 ? value(of).index : found.column;
  }
  if (!chooses || found.column < 0) return {};
  const auto replace = [&](int& v) { v = v < 0 ? v : same[static_cast<std::size_t>(v)]; };
  for (Instruction& i : program.values) {
    replace(i.a);
    replace(i.b);
  }
  if (program.states.back().name == kCount) program.states.pop_back();
  for (StateDefinition& state : program.states) replace(state.next);
  for (NamedValue& named : program.named) replace(named.value);
  replace(program.output);
  program = canonical_form(program);
  const bool fits = std::ranges::none_of(program.values, [&](const Instruction& i) {
    return (i.op == StepOp::state || i.op == StepOp::lag) && i.index >= std::ssize(program.states);
  });
  if (!fits || to_string(with_reset_column(program, found.column)) != to_string(canonical_form(asking)))
    return {};
  return found;
}

}  // namespace lagtape
