#include "lagtape/ops/recurrence/learn/learning_step.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/element_change.h"
#include "lagtape/ops/kernels/kernel_table.h"
#include "lagtape/ops/recurrence/learn/recorded_stack.h"
#include "lagtape/ops/recurrence/step/canonical_form.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape::recurrence {
namespace {

using Adjoints = std::map<int, StepVar>;  ///< by value

class LearningRecorder {
 public:
  explicit LearningRecorder(const std::vector<LearnedLayer>& layers)
      : layers_(layers), stack_(layers), output_(stack_.output()), forward_(tape_.recorded().values.size()) {}

  LearningStep record() {
    for (const PastState& past : stack_.past())
      note(text_of("layer ", past.layer, " reads states of several steps before"));
    find_dependences();
    const StepVar delta = tape_.vector(LearningStep::kDelta, output_.shape().width());
    for (std::size_t l = 0; l < layers_.size(); ++l) add_uses(l, delta);
    return finish();
  }

 private:
  // ---- dependences ----

  /// The values of the step that depend on states or trained weights and, for each layer, on its next values or
  /// its weights.
  void find_dependences() {
    const auto& values = tape_.recorded().values;
    moves_.assign(forward_, false);
    leads_.assign(layers_.size(), std::vector<bool>(forward_, false));
    for (const Read& read : reads_) {
      if (!layers_[read.layer].weights[read.weight].trainable) continue;
      moves_[read.value] = leads_[read.layer][read.value] = true;
    }
    for (std::size_t l = 0; l < layers_.size(); ++l)
      for (std::size_t s = 0; s < recorded_[l].states.size(); ++s) {
        moves_[recorded_[l].states[s].id()] = true;
        leads_[l][recorded_[l].next[s].id()] = leads_[l][recorded_[l].states[s].id()] = true;
      }
    for (const PastState& past : stack_.past()) moves_[past.weight] = true;
    const auto spread = [&](std::vector<bool>& set) {
      for (std::size_t v = 0; v < forward_; ++v)
        for (const int o : {values[v].a, values[v].b})
          if (o >= 0 && set[o]) set[v] = true;
    };
    spread(moves_);
    for (std::vector<bool>& set : leads_) spread(set);
  }

  // ---- reverse mode ----

  static void add(Adjoints& adjoints, int value, StepVar more) {
    const auto [found, fresh] = adjoints.try_emplace(value, more);
    if (!fresh) found->second = found->second + more;
  }

  void reverse_element(const Instruction& i, int value, StepVar adjoint, Adjoints& adjoints) {
    const ElementFunction& f = function_of(i.element);
    if (f.reverse == nullptr) return;
    const StepVar a = tape_.var(i.a), b = i.b < 0 ? a : tape_.var(i.b);
    for (const int operand : {i.a, i.a == i.b ? -1 : i.b}) {
      if (operand < 0 || tape_.at(operand).op == StepOp::constant) continue;
      if (operand != i.a && i.computes(ElementOp::where_positive)) continue;
      ElementChange<StepVar> rule(a, b, tape_.var(value), adjoint, operand == i.a, operand == i.b);
      f.reverse(rule);
      if (rule.result) add(adjoints, operand, *rule.result);
    }
  }

  /// Carries adjoints back through one operation. Returns false for one that mixes units.
  bool reverse_within_units(const Instruction& i, int value, StepVar adjoint, Adjoints& adjoints) {
    if (i.op == StepOp::element) {
      reverse_element(i, value, adjoint, adjoints);
      return true;
    }
    if (i.op != StepOp::reshape) return is_leaf(i.op);
    const RowShape shape = tape_.at(i.a).shape;
    if (shape.width() != i.shape.width()) return false;
    add(adjoints, i.a, adjoint.shape().rank == 0 ? adjoint : tape_.reshape(adjoint, shape));
    return true;
  }

  /// dL/d(values), not followed beyond the values in `cut`.
  Adjoints gradient(std::size_t l, StepVar delta) {
    Adjoints adjoints;
    adjoints.emplace(output_.id(), delta);
    for (int v = static_cast<int>(forward_) - 1; v >= 0; --v) {
      const auto found = adjoints.find(v);
      if (found == adjoints.end() || !leads_[l][v] || is_next(l, v)) continue;
      const Instruction i = tape_.at(v);
      const StepVar adjoint = stack_.shaped(found->second, i.shape);
      if (i.op == StepOp::product) {
        if (leads_[l][i.a]) add(adjoints, i.a, tape_.product(stack_.transposed(stack_.read_at(v)), adjoint));
      } else if (!reverse_within_units(i, v, adjoint, adjoints)) {
        reverse_within_row(i, adjoint, adjoints);
      }
    }
    return adjoints;
  }

  void reverse_within_row(const Instruction& i, StepVar adjoint, Adjoints& adjoints) {
    const RowShape shape = tape_.at(i.a).shape;
    if (i.op == StepOp::sum) {
      add(adjoints, i.a, tape_.broadcast(adjoint, shape));
    } else if (i.op == StepOp::broadcast && shape.rank + 1 == i.shape.rank) {
      add(adjoints, i.a, tape_.sum(adjoint));
    } else {
      throw not_learned(text_of("a gradient through '", lagtape::name_of(i), "' is not carried"));
    }
  }

  bool is_next(std::size_t l, int value) const {
    return std::ranges::any_of(recorded_[l].next, [&](StepVar v) { return v.id() == value; });
  }

  /// The derivatives of a state's next value with respect to the values of the same unit.
  Adjoints derivatives(std::size_t l, StepVar next) {
    Adjoints adjoints;
    adjoints.emplace(next.id(), tape_.constant(1));
    for (int v = next.id(); v >= 0; --v) {
      const auto found = adjoints.find(v);
      if (found == adjoints.end()) continue;
      const Instruction i = tape_.at(v);
      if (v == recorded_[l].input) {
        if (moves_[v]) note(text_of("layer ", l, " reads the states or weights of layers below"));
      } else if (i.op == StepOp::product) {
        if (moves_[i.a])
          note(text_of("the matrix ", layers_[stack_.read_at(v).layer].weights[stack_.read_at(v).weight].name,
                       " of layer ", l, " multiplies what depends on states or other weights"));
      } else if (moves_[v] && !reverse_within_units(i, v, found->second, adjoints)) {
        note(text_of("'", lagtape::name_of(i), "' of layer ", l, " mixes its units"));
      }
    }
    return adjoints;
  }

  void note(const std::string& inexact) {
    if (inexact_.empty()) inexact_ = inexact;
  }

  // ---- uses of weights ----

  void add_uses(std::size_t l, StepVar delta) {
    const RecordedLayer& layer = recorded_[l];
    const Adjoints toward = gradient(l, delta);
    std::vector<Adjoints> of_next;
    for (const StepVar next : layer.next) of_next.push_back(derivatives(l, next));
    for (const Read& read : reads_) {
      if (static_cast<std::size_t>(read.layer) != l || !layers_[l].weights[read.weight].trainable) continue;
      add_use(read, toward, of_next);
    }
  }

  void add_use(const Read& read, const Adjoints& toward, const std::vector<Adjoints>& of_next) {
    const auto l = static_cast<std::size_t>(read.layer);
    const RecordedLayer& layer = recorded_[l];
    const RowShape shape = tape_.at(read.value).shape;
    const auto known = [](const Adjoints& adjoints, int value) { return adjoints.contains(value); };
    const std::size_t count = layer.states.size();
    // The states that the weight reaches and through which it reaches the output, now or later.
    std::vector<bool> reached(count), credited(count);
    for (std::size_t s = 0; s < count; ++s) {
      reached[s] = known(of_next[s], read.value);
      credited[s] = known(toward, layer.next[s].id()) || known(toward, layer.states[s].id());
    }
    for (std::size_t turn = 0; turn < count; ++turn)
      for (std::size_t s = 0; s < count; ++s)
        for (std::size_t r = 0; r < count; ++r) {
          if (!known(of_next[s], layer.states[r].id())) continue;
          if (reached[r]) reached[s] = true;
          if (credited[s]) credited[r] = true;
        }
    std::vector<std::size_t> traced;
    for (std::size_t s = 0; s < count; ++s)
      if (reached[s] && credited[s]) traced.push_back(s);
    if (traced.size() > TraceUpdate<double>::kMostStates)
      throw not_learned(text_of("traces of ", traced.size(), " states of a unit; at most ",
                                TraceUpdate<double>::kMostStates));
    WeightUse use{.layer = read.layer, .weight = read.weight, .width = shape.width(), .x = read.x};
    for (const std::size_t s : traced) {
      if (layer.next[s].shape().width() != shape.width())
        throw not_learned("states and weights of several widths");
      const auto of = [&](const Adjoints& adjoints, int value) {
        return adjoints.contains(value) ? keep(adjoints.at(value), shape) : -1;
      };
      for (const std::size_t r : traced) use.carry.push_back(of(of_next[s], layer.states[r].id()));
      use.entry.push_back(of(of_next[s], read.value));
      const bool is_first =
          std::ranges::find(layer.next, layer.next[s].id(), &StepVar::id) == layer.next.begin() + s;
      use.credit.push_back(is_first ? of(toward, layer.next[s].id()) : -1);
      use.before.push_back(is_next(l, layer.states[s].id()) ? -1 : of(toward, layer.states[s].id()));
    }
    if (!is_next(l, read.value) && toward.contains(read.value))
      use.direct = keep(toward.at(read.value), shape);
    if (!traced.empty() || use.direct >= 0) uses_.push_back(std::move(use));
  }

  // ---- the program ----

  /// Marks a value that the program must have. Returns its number among those.
  int keep(StepVar v, RowShape shape) {
    if (v.shape().rank == 0 && shape.rank > 0) v = tape_.broadcast(v, shape);
    if (v.shape().rank != 1) v = tape_.reshape(v, RowShape::vector(v.shape().width()));
    const StepVar kept = tape_.state(text_of("kept ", kept_.size()), v.shape());
    tape_.set_next(kept, v);
    kept_.push_back(v);
    return static_cast<int>(kept_.size()) - 1;
  }

  LearningStep finish() {
    LearningStep step;
    for (const RecordedLayer& layer : recorded_) {
      std::vector<int>& next = step.next.emplace_back();
      for (const StepVar v : layer.next) next.push_back(keep(v, v.shape()));
    }
    for (WeightUse& use : uses_)
      if (use.x >= 0) use.x = keep(tape_.var(use.x), tape_.at(use.x).shape);
    tape_.set_output(output_);
    step.program = canonical_form(tape_.recorded());
    const auto value = [&](int& kept) {
      if (kept >= 0) kept = step.program.states[kept].next;
    };
    for (std::vector<int>& layer : step.next) std::ranges::for_each(layer, value);
    for (WeightUse& use : uses_) {
      value(use.x), value(use.direct);
      for (std::vector<int>* list : {&use.carry, &use.entry, &use.credit, &use.before})
        std::ranges::for_each(*list, value);
    }
    step.uses = std::move(uses_);
    step.output = step.program.output;
    step.inexact = inexact_;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      std::vector<int>& states = step.states.emplace_back();
      for (const StateDefinition& state : layers_[l].program.states)
        states.push_back(step.weight_named(LearningStep::state(l, state.name)));
    }
    for (PastState past : stack_.past()) {
      past.weight = step.weight_named(
          LearningStep::past(past.layer, layers_[past.layer].program.states[past.state].name, past.lag));
      step.past_states.push_back(past);
    }
    return step;
  }

  const std::vector<LearnedLayer>& layers_;
  RecordedStack stack_;
  StepTape& tape_ = stack_.tape();
  const std::vector<RecordedLayer>& recorded_ = stack_.layers();
  const std::vector<Read>& reads_ = stack_.reads();
  const StepVar output_;
  const std::size_t forward_;  // values of the step itself
  std::vector<bool> moves_;
  std::vector<std::vector<bool>> leads_;
  std::vector<WeightUse> uses_;
  std::vector<StepVar> kept_;
  std::string inexact_;
};

}  // namespace

int LearningStep::weight_named(const std::string& name) const {
  const auto found = std::ranges::find(program.weights, name, &WeightDefinition::name);
  return found == program.weights.end() ? -1 : static_cast<int>(found - program.weights.begin());
}

std::string LearningStep::past(std::size_t layer, std::string_view name, std::int64_t lag) {
  return text_of(layer, " ", name, " ", lag, " before");
}

std::string LearningStep::text(std::size_t layer, std::string_view name, const char* end) {
  return text_of(layer, " ", name, end);
}

LearningStep learning_step(const std::vector<LearnedLayer>& layers) {
  return LearningRecorder(layers).record();
}

}  // namespace lagtape::recurrence
