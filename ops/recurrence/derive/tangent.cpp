#include "lagtape/ops/recurrence/derive/tangent.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/element_change.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

using Kind = TangentWeight::Kind;

/// The operands whose change affects an operation's result; -1: none.
std::array<int, 2> differentiated(const Instruction& i) {
  if (i.op == StepOp::element && function_of(i.element).reverse == nullptr) return {-1, -1};
  return {i.a, i.computes(ElementOp::where_positive) ? -1 : i.b};
}

/// The values that change in a direction.
std::vector<bool> changing_values(const StepProgram& step, const std::vector<bool>& states,
                                  const std::function<bool(int)>& weight_changes, bool input) {
  std::vector<bool> changes(step.values.size());
  for (std::size_t v = 0; v < step.values.size(); ++v) {
    const Instruction& i = step.values[v];
    switch (i.op) {
      case StepOp::input: changes[v] = input; break;
      case StepOp::state:
      case StepOp::lag: changes[v] = states[i.index]; break;
      case StepOp::real_lag: changes[v] = states[i.index] || changes[i.a]; break;
      case StepOp::weight: changes[v] = weight_changes(i.index); break;
      case StepOp::product: changes[v] = changes[i.a] || weight_changes(i.index); break;
      default:
        for (const int operand : differentiated(i))
          changes[v] = changes[v] || (operand >= 0 && changes[operand]);
    }
  }
  return changes;
}

/// The states that change in a direction, because their next values depend on something that changes.
std::vector<bool> changing_states(const StepProgram& step, const std::function<bool(int)>& weight_changes,
                                  TangentInputs inputs) {
  std::vector<bool> states(step.states.size(), inputs.initial);
  for (bool more = true; more;) {
    const std::vector<bool> values = changing_values(step, states, weight_changes, inputs.input);
    more = false;
    for (std::size_t s = 0; s < states.size(); ++s) {
      if (states[s] || !values[step.states[s].next]) continue;
      states[s] = more = true;
    }
  }
  return states;
}

/// The states whose changes are needed by a next value or the output.
std::vector<bool> needed_values(const StepProgram& step, const std::vector<bool>& values,
                                const std::vector<bool>& states) {
  std::vector<bool> needed(step.values.size());
  needed[step.output] = true;
  for (std::size_t s = 0; s < states.size(); ++s)
    if (states[s]) needed[step.states[s].next] = true;
  for (std::size_t v = step.values.size(); v-- > 0;) {
    needed[v] = needed[v] && values[v];
    if (!needed[v] || step.values[v].op == StepOp::real_lag) continue;  // the weights of a lag are separate
    for (const int operand : differentiated(step.values[v]))
      if (operand >= 0) needed[operand] = true;
  }
  return needed;
}

using Change = std::optional<StepVar>;  ///< none: 0

Change sum_of(const Change& a, const Change& b) { return a && b ? *a + *b : a ? a : b; }

class TangentRecorder {
 public:
  TangentRecorder(const StepProgram& step, const std::vector<std::vector<bool>>& changes,
                  TangentInputs inputs)
      : step_(step),
        changes_(changes),
        directions_(changes.empty() ? 0 : changes[0].size()),
        inputs_(inputs),
        tape_(step.input.width() * static_cast<std::int64_t>(inputs.input ? directions_ + 1 : 1)) {
    while (is_taken(prefix_ + "1 ")) prefix_ += "d";
  }

  TangentProgram record() {
    declare_states();
    for (std::size_t v = 0; v < step_.values.size(); ++v) {
      values_.push_back(same(step_.values[v]));
      for (std::size_t d = 0; d < directions_; ++d)
        changed_[d].push_back(is_changing_[d][v] ? change_of(step_.values[v], d) : Change());
    }
    for (std::size_t s = 0; s < step_.states.size(); ++s) {
      tape_.set_next(states_[s], shaped(values_[step_.states[s].next], step_.states[s].shape));
      for (std::size_t d = 0; d < directions_; ++d)
        if (changing_[d][s])
          tape_.set_next(*state_changes_[d][s],
                         shaped(change(d, step_.states[s].next), step_.states[s].shape));
    }
    set_output();
    TangentProgram result{tape_.finish(), {}};
    for (const WeightDefinition& weight : result.program.weights)
      result.weights.push_back(weights_.at(weight.name));
    return result;
  }

 private:
  void declare_states() {
    state_changes_.resize(directions_, std::vector<Change>(step_.states.size()));
    changed_.resize(directions_);
    for (std::size_t d = 0; d < directions_; ++d) {
      const auto weight_changes = [&, d](int weight) -> bool { return changes_[weight][d]; };
      changing_.push_back(changing_states(step_, weight_changes, inputs_));
      is_changing_.push_back(needed_values(
          step_, changing_values(step_, changing_[d], weight_changes, inputs_.input), changing_[d]));
    }
    for (std::size_t s = 0; s < step_.states.size(); ++s) {
      const StateDefinition& state = step_.states[s];
      states_.push_back(tape_.state(state.name, state.shape));
      for (std::size_t d = 0; d < directions_; ++d)
        if (changing_[d][s])
          state_changes_[d][s] = tape_.state(text_of(prefix_, d + 1, " ", state.name), state.shape);
    }
  }

  bool is_taken(const std::string& beginning) const {
    const auto begins = [&](const auto& definition) { return definition.name.starts_with(beginning); };
    return std::ranges::any_of(step_.states, begins) || std::ranges::any_of(step_.weights, begins);
  }

  StepVar shaped(StepVar v, const RowShape& shape) {
    return v.shape() == shape ? v : tape_.broadcast(v, shape);
  }
  StepVar zeros_like(StepVar v) { return v - v; }
  StepVar change(std::size_t d, int value) {
    const Change& found = changed_[d][value];
    return found ? *found : zeros_like(values_[value]);
  }

  /// A weight of the step, or one derived from it.
  StepVar leaf(const TangentWeight& source) {
    const WeightDefinition& of = step_.weights[source.weight];
    const std::string name = name_of(source);
    const auto known = leaves_.find(name);
    if (known != leaves_.end()) return known->second;
    weights_[name] = source;
    return leaves_[name] = of.shape.empty() ? tape_.scalar(name) : tape_.vector(name, of.shape[0]);
  }
  StepMatrix matrix(const TangentWeight& source) {
    const WeightDefinition& of = step_.weights[source.weight];
    const std::string name = name_of(source);
    const auto known = matrices_.find(name);
    if (known != matrices_.end()) return known->second;
    weights_[name] = source;
    return matrices_[name] = tape_.matrix(name, of.shape[0], of.shape[1]);
  }
  std::string name_of(const TangentWeight& source) const {
    const std::string& name = step_.weights[source.weight].name;
    switch (source.kind) {
      case Kind::same: return name;
      case Kind::direction: return text_of(prefix_, source.direction + 1, " ", name);
      case Kind::lag_below: return text_of("below ", name, " to ", source.largest);
      case Kind::lag_above: return text_of("above ", name, " to ", source.largest);
      case Kind::lag_change: return text_of(prefix_, source.direction + 1, " ", name, " to ", source.largest);
    }
    return name;
  }

  StepVar past(const Instruction& i, StepVar state) {
    return i.op == StepOp::lag        ? tape_.lag(state, i.lag)
           : i.op == StepOp::real_lag ? tape_.lag(state, values_[i.a], i.lag)
                                      : state;
  }

  StepVar same(const Instruction& i) {
    switch (i.op) {
      case StepOp::input: return tape_.slice(tape_.input(), 0, step_.input.width());
      case StepOp::state:
      case StepOp::lag:
      case StepOp::real_lag: return past(i, states_[i.index]);
      case StepOp::weight: return leaf({.weight = i.index});
      case StepOp::constant: return tape_.constant(i.value);
      case StepOp::step_index:
        return i.lag > 1 ? floor(tape_.step_index() / static_cast<double>(i.lag)) : tape_.step_index();
      case StepOp::draw: {
        const DrawDefinition& draw = step_.draws[i.index];
        const bool is_mask = draw.kind == DrawDefinition::Kind::mask;
        return is_mask ? tape_.mask(i.shape, draw.rate, draw.every_step)
                       : tape_.draw(draw.kind, i.shape, draw.every_step, draw.evaluation);
      }
      case StepOp::product: return tape_.product(matrix({.weight = i.index}), values_[i.a]);
      default: return tape_.replay(i, values_[i.a], i.b < 0 ? StepVar() : values_[i.b]);
    }
  }

  Change change_of(const Instruction& i, std::size_t d) {
    const int direction = static_cast<int>(d);
    switch (i.op) {
      case StepOp::input: {
        const std::int64_t width = step_.input.width(), first = width * (direction + 1);
        return tape_.slice(tape_.input(), first, first + width);
      }
      case StepOp::state:
      case StepOp::lag: return past(i, *state_changes_[d][i.index]);
      case StepOp::real_lag: return change_of_lag(i, d);
      case StepOp::weight: return leaf({.kind = Kind::direction, .weight = i.index, .direction = direction});
      case StepOp::element: return change_of_element(i, d);
      case StepOp::product: {
        Change result;
        if (changed_[d][i.a]) result = tape_.product(matrix({.weight = i.index}), *changed_[d][i.a]);
        if (!changes_[i.index][d]) return result;
        const StepMatrix of = matrix({.kind = Kind::direction, .weight = i.index, .direction = direction});
        return sum_of(result, tape_.product(of, values_[i.a]));
      }
      // The other ops move numbers within a row, or sum them.
      default: return tape_.replay(i, change(d, i.a), i.b < 0 ? StepVar() : change(d, i.b));
    }
  }

  Change change_of_lag(const Instruction& i, std::size_t d) {
    Change result;
    if (state_changes_[d][i.index]) result = past(i, *state_changes_[d][i.index]);
    const int weight = step_.values[i.a].index;
    if (!changes_[weight][d]) return result;
    const auto at = [&](Kind kind) {
      return tape_.lag(states_[i.index], leaf({.kind = kind, .weight = weight, .largest = i.lag}), i.lag);
    };
    const StepVar by = leaf(
        {.kind = Kind::lag_change, .weight = weight, .direction = static_cast<int>(d), .largest = i.lag});
    return sum_of(result, (at(Kind::lag_above) - at(Kind::lag_below)) * by);
  }

  Change change_of_element(const Instruction& i, std::size_t d) {
    const ElementFunction& f = function_of(i.element);
    const StepVar a = values_[i.a], b = i.b < 0 ? a : values_[i.b];
    const StepVar y = values_.back();
    Change result;
    const int second = i.a == i.b ? -1 : i.b;  // the rule gives the change with respect to both at once
    for (const int operand : {i.a, second}) {
      if (operand < 0 || !changed_[d][operand]) continue;
      ElementChange<StepVar> rule(a, b, y, *changed_[d][operand], operand == i.a, operand == i.b);
      f.reverse(rule);
      result = sum_of(result, rule.result);
    }
    return result;
  }

  void set_output() {
    const auto flat = [&](StepVar v) {
      return v.shape().rank < 2 ? v : tape_.reshape(v, RowShape::vector(v.shape().width()));
    };
    StepVar all = flat(values_[step_.output]);
    for (std::size_t d = 0; d < directions_; ++d) all = tape_.concatenate(all, flat(change(d, step_.output)));
    tape_.set_output(all);
  }

  const StepProgram& step_;
  const std::vector<std::vector<bool>>& changes_;
  const std::size_t directions_;
  const TangentInputs inputs_;
  std::string prefix_ = "d";  // begins the names of derivatives
  StepTape tape_;
  std::vector<StepVar> values_, states_;
  std::vector<std::vector<bool>> changing_, is_changing_;     // [direction][state], [direction][value]
  std::vector<std::vector<Change>> changed_, state_changes_;  // [direction][value], [direction][state]
  std::map<std::string, StepVar> leaves_;
  std::map<std::string, StepMatrix> matrices_;
  std::map<std::string, TangentWeight> weights_;
};

/// The whole number of steps below a lag that is clamped to 1 .. largest, as the interpreter computes it.
double whole_below(double lag, std::int64_t largest) {
  const double clamped = std::isfinite(lag) ? std::clamp(lag, 1.0, static_cast<double>(largest)) : 1.0;
  return std::min(std::floor(clamped), static_cast<double>(std::max<std::int64_t>(largest - 1, 1)));
}

}  // namespace

TangentProgram tangent_of(const StepProgram& step, const std::vector<std::vector<bool>>& changes,
                          TangentInputs inputs) {
  return TangentRecorder(step, changes, inputs).record();
}

Tensor tangent_weight(const TangentWeight& source, std::span<const Tensor> weights,
                      std::span<const std::vector<Tensor>> changes) {
  const Tensor& weight = weights[source.weight];
  if (source.kind == Kind::same) return weight;
  if (source.kind == Kind::direction) return changes[source.direction][source.weight];
  Tensor result(weight.shape(), weight.dtype());
  for (std::int64_t i = 0; i < weight.numel(); ++i) {
    const double lag = weight.at(i), below = whole_below(lag, source.largest);
    const bool is_clamped = !(lag >= 1 && lag <= static_cast<double>(source.largest));
    result.set(i, source.kind == Kind::lag_below   ? below
                  : source.kind == Kind::lag_above ? below + 1
                  : is_clamped                     ? 0
                                                   : changes[source.direction][source.weight].at(i));
  }
  return result;
}

std::vector<Tensor> tangent_weights(const TangentProgram& tangent, std::span<const Tensor> weights,
                                    std::span<const std::vector<Tensor>> changes) {
  std::vector<Tensor> all;
  for (const TangentWeight& source : tangent.weights) all.push_back(tangent_weight(source, weights, changes));
  return all;
}

}  // namespace lagtape
