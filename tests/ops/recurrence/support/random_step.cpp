#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/step_tape.h"
#include "lagtape/tests/ops/recurrence/support/random_case.h"

namespace lagtape::test {
namespace {

/// Records a random step. Every value that is made is used, so that no weight is left over.
class RandomStep {
 public:
  RandomStep(RandomStream& random, std::int64_t input_width, std::int64_t steps, const CaseLimits& limits)
      : random_(random), tape_(input_width), steps_(steps), limits_(limits) {}

  StepProgram with_states() {
    const std::int64_t count = below(3) + 1;
    for (std::int64_t i = 0; i < count; ++i) {
      StepVar state = tape_.state(text_of("h", i), random_shape());
      states_.push_back({state, {}});
    }
    std::vector<StepVar> nexts;
    for (const State& state : states_) {
      const StepVar next = next_value(state.now);
      tape_.set_next(state.now, next);
      nexts.push_back(next);
    }
    switch (below(5)) {
      case 0: tape_.set_output(bounded(random_shape(), 2)); break;
      case 2: tape_.set_output(all_of(nexts)); break;
      case 1: tape_.set_output(leaf(states_[0].now.shape())); break;
      default: tape_.set_output(nexts[below(count)]);
    }
    return tape_.finish();
  }

  /// States on the grid that can be undone: the last updated first. An increment reads new values of the
  /// states before its own and old ones of those after it.
  StepProgram coupled() {
    lags_ = false;
    const std::int64_t count = below(3) + 1;
    std::vector<StepVar> all, nexts;
    for (std::int64_t i = 0; i < count; ++i)
      all.push_back(tape_.state(text_of("h", i), random_shape(), Arithmetic::grid));
    for (std::int64_t i = 0; i < count; ++i) {
      states_.clear();
      for (std::int64_t later = i + 1; later < count; ++later) states_.push_back({all[later], {}});
      made_ = nexts;
      const StepVar increment = 0.3 * tanh(bounded(all[i].shape(), 3));
      nexts.push_back(chance(0.5) ? all[i] + increment : all[i] - increment);
      tape_.set_next(all[i], nexts[i]);
    }
    for (std::int64_t i = 0; i < count; ++i) states_.push_back({all[i], {}});
    made_ = nexts;
    tape_.set_output(chance(0.3)   ? bounded(random_shape(), 2)
                     : chance(0.3) ? all_of(nexts)
                                   : nexts[below(count)]);
    return tape_.finish();
  }

  StepProgram readout(std::int64_t width) {
    const RowShape shape = RowShape::vector(width);
    StepVar y = product(tape_.matrix("W", width, tape_.input().shape().size), tape_.input()) +
                tape_.vector("b", width);
    if (chance(0.3)) y = y + bounded(shape, 1);
    if (chance(0.2)) y = y * (0.5 + draw(shape));
    tape_.set_output(y);
    return tape_.finish();
  }

 private:
  struct State {
    StepVar now;
    std::vector<StepVar> lags;
  };

  std::int64_t below(std::int64_t bound) { return static_cast<std::int64_t>(random_.next_below(bound)); }
  bool chance(double probability) { return random_.next_uniform() < probability; }
  std::string name(const char* kind) { return text_of(kind, names_++); }
  std::int64_t random_width() { return 1 + below(1 + below(limits_.width)); }
  bool full() const { return static_cast<int>(tape_.recorded().values.size()) >= limits_.values; }

  RowShape random_shape() {
    const std::int64_t kind = below(8);
    if (kind == 0) return RowShape::scalar();
    if (kind <= 5) return RowShape::vector(random_width());
    const std::int64_t groups = 1 + below(4);
    return RowShape::grouped(groups, 1 + below(std::max<std::int64_t>(1, limits_.width / groups)));
  }

  // ---- Leaves ----

  StepVar draw(RowShape shape) {
    const auto kind = chance(0.5) ? DrawDefinition::Kind::uniform : DrawDefinition::Kind::normal;
    return tape_.draw(kind, shape, chance(0.5), chance(0.5) ? 0.5 : 0);
  }

  /// A past value of the state, one of at most three.
  StepVar lagged(State& state) {
    if (!lags_) return state.now;
    if (state.lags.size() >= 3) return state.lags[below(3)];
    const StepVar h = state.now;
    if (chance(0.3)) {
      const std::int64_t longest = 1 + below(chance(0.3) ? 2 : 6);
      const bool one_a_unit = h.shape().rank == 1 && chance(0.6);
      const StepVar tau = one_a_unit ? tape_.vector(name("tau"), h.shape().size) : tape_.scalar(name("tau"));
      state.lags.push_back(tape_.lag(h, tau, longest));
    } else {
      const std::int64_t lags[] = {1,      2,          3, 1 + below(8), 1 + below(steps_), steps_ - 1,
                                   steps_, steps_ + 3, 50};
      state.lags.push_back(tape_.lag(h, lags[below(9)]));
    }
    return state.lags.back();
  }

  /// A value of that shape that exists already, or a new leaf.
  StepVar leaf(RowShape shape) {
    std::vector<StepVar> there;
    if (tape_.recorded().input == shape) there.push_back(tape_.input());
    for (const StepVar& value : made_) {
      if (value.shape() == shape) there.push_back(value);
    }
    std::vector<State*> states;
    for (State& state : states_) {
      if (state.now.shape() == shape) states.push_back(&state);
    }
    if (!states.empty() && chance(0.7)) {
      State& state = *states[below(states.size())];
      return chance(0.5) ? state.now : lagged(state);
    }
    if (!there.empty() && chance(0.7)) return there[below(there.size())];
    if (chance(0.15)) return draw(shape);
    if (chance(0.1)) return tape_.broadcast(sin(0.7 * tape_.step_index()), shape);
    if (shape.rank == 0) return chance(0.5) ? sin(0.7 * tape_.step_index()) : tape_.scalar(name("c"));
    if (shape.rank == 1) return tape_.vector(name("b"), shape.size);
    return tape_.broadcast(leaf(RowShape::vector(shape.groups)), shape);
  }

  /// Whether v can be a vector, or a grouped vector of so many groups.
  static bool can_become(const StepVar& v, RowShape result) {
    return result.rank == 1 || (v.shape().rank > 0 && v.shape().width() % result.groups == 0);
  }

  StepVar becoming(StepVar v, RowShape result) {
    if (v.shape().rank == 0) return tape_.broadcast(v, RowShape::vector(1));
    const std::int64_t width = v.shape().width();
    return tape_.reshape(v, result.rank == 1 ? RowShape::vector(width)
                                             : RowShape::grouped(result.groups, width / result.groups));
  }

  /// The operand of a product whose result has the shape `result`: [n] or [groups, n] with any n.
  StepVar operand(RowShape result, int depth) {
    if (chance(0.35) && can_become(tape_.input(), result)) return becoming(tape_.input(), result);
    if (!states_.empty() && chance(0.85)) {
      State& state = states_[below(states_.size())];
      if (can_become(state.now, result)) return becoming(chance(0.5) ? state.now : lagged(state), result);
    }
    if (result.rank == 1) return bounded(RowShape::vector(random_width()), depth);
    return bounded(RowShape::grouped(result.groups, 1 + below(4)), depth);
  }

  // ---- Values of order one ----

  /// A sum of products and other values.
  StepVar affine(RowShape shape, int depth) {
    if (shape.rank == 0) {
      const StepVar v = bounded(RowShape::vector(random_width()), depth);
      return chance(0.5) ? tape_.scalar(name("c")) * mean(v) : mean(v) - tape_.scalar(name("c"));
    }
    StepVar sum;
    const std::int64_t terms = 1 + below(3);
    for (std::int64_t i = 0; i < terms; ++i) {
      const StepVar v = operand(shape, depth);
      const StepVar term = product(tape_.matrix(name("W"), shape.size, v.shape().size), v);
      sum = i == 0 ? term : sum + term;
    }
    if (shape.rank == 1 && chance(0.6)) sum = sum + tape_.vector(name("b"), shape.size);
    return sum;
  }

  StepVar bounded(RowShape shape, int depth) {
    if (depth == 0 || full()) return leaf(shape);
    const StepVar value = make(shape, depth - 1);
    made_.push_back(value);
    return value;
  }

  StepVar make(RowShape shape, int depth) {
    switch (below(28)) {
      case 0: return tanh(affine(shape, depth));
      case 1: return sigmoid(affine(shape, depth));
      case 2: return sin(affine(shape, depth));
      case 3: return cos(affine(shape, depth));
      case 4: return log(1 + exp(affine(shape, depth)));
      case 5: {
        const StepVar v = affine(shape, depth);
        return sqrt(1 + v * v) - 1;
      }
      case 6: return exp(-sigmoid(bounded(shape, depth)));
      case 7: return bounded(shape, depth) + 0.5 * bounded(shape, depth);
      case 8: return bounded(shape, depth) - bounded(shape, depth) / 2;
      case 9: return tanh(bounded(shape, depth)) * bounded(shape, depth);
      case 10: return bounded(shape, depth) / (1.2 + sigmoid(bounded(shape, depth)));
      case 11: return 1 - bounded(shape, depth);
      case 12: return 1 / (1.5 + tanh(bounded(shape, depth)));
      case 13: return relu(off_zero(shape, depth));
      case 14: return abs(off_zero(shape, depth)) + sign(off_zero(shape, depth)) * bounded(shape, depth);
      case 15: return minimum(off_zero(shape, depth), 0.2 * tanh(bounded(shape, depth)));
      case 16:
        return chance(0.5) ? where_positive(bounded(shape, depth), off_zero(shape, depth))
                           : maximum(0.2 * tanh(bounded(shape, depth)), off_zero(shape, depth));
      case 17:
        return chance(0.5) ? minimum(off_zero(shape, depth), tape_.constant(0.1))
                           : maximum(tape_.constant(-0.1), off_zero(shape, depth));
      case 18: return across(shape, depth);
      case 19:
      case 20:
      case 21:
      case 22:
      case 23:
      case 24:
      case 25:
      case 26: return any_function(shape, depth);
      default: return regrouped(shape, depth);
    }
  }

  /// Any function of one operand that an equation can name, with an argument where it is smooth.
  StepVar any_function(RowShape shape, int depth) {
    std::vector<const ElementFunction*> functions;
    for (const ElementFunction& function : kElementFunctions)
      if (function.notation == ElementNotation::function && function.arrays == 1 &&
          function.domain != ElementDomain::declared)
        functions.push_back(&function);
    const ElementFunction& function = *functions[below(functions.size())];
    switch (function.domain) {
      case ElementDomain::real: return tape_.unary(function.op, 2 * tanh(bounded(shape, depth)));
      case ElementDomain::nonzero: return tape_.unary(function.op, off_zero(shape, depth));
      case ElementDomain::positive: return tape_.unary(function.op, 1.5 + tanh(bounded(shape, depth)));
      case ElementDomain::fraction: return tape_.unary(function.op, 1.5 + 0.4 * tanh(bounded(shape, depth)));
      case ElementDomain::declared: break;  // the gradient is not that of the value
    }
    throw Error("[random] no such domain");
  }

  /// A value of either sign that is never within 0.24 of zero.
  StepVar off_zero(RowShape shape, int depth) {
    const StepVar signs = shape.rank == 2   ? tape_.broadcast(tape_.vector(name("s"), shape.groups), shape)
                          : shape.rank == 1 ? tape_.vector(name("s"), shape.size)
                                            : tape_.scalar(name("s"));
    return signs * (1.5 + tanh(bounded(shape, depth)));
  }

  /// A value from sums within the row that are spread over it again.
  StepVar across(RowShape shape, int depth) {
    if (shape.rank == 0) return mean(bounded(RowShape::vector(random_width()), depth));
    const StepVar weights = exp(tanh(bounded(shape, depth)));
    if (chance(0.5)) return weights / tape_.broadcast(sum(weights), shape);
    return bounded(shape, depth) - tape_.broadcast(mean(weights), shape);
  }

  /// All values in one vector, together with a leaf.
  StepVar all_of(const std::vector<StepVar>& values) {
    StepVar all = leaf(chance(0.3) ? RowShape::scalar() : RowShape::vector(random_width()));
    for (const StepVar& v : values)
      all =
          tape_.concatenate(all, v.shape().rank == 2 ? becoming(v, RowShape::vector(v.shape().width())) : v);
    return all;
  }

  /// A vector joined from two shorter ones, or cut out of a longer one.
  StepVar in_parts(std::int64_t size, int depth) {
    const auto some = [&](std::int64_t n) {
      return bounded(n == 1 && chance(0.5) ? RowShape::scalar() : RowShape::vector(n), depth);
    };
    if (size > 1 && chance(0.5)) {
      const std::int64_t first = 1 + below(size - 1);
      const StepVar a = some(first);
      return tape_.concatenate(a, some(size - first));
    }
    const std::int64_t before = below(3), after = below(3);
    return tape_.slice(bounded(RowShape::vector(before + size + after), depth), before, before + size);
  }

  /// An array whose elements are those of a vector at strides from 0 to 2, some several times.
  StepVar viewed(const RowShape& shape, int depth) {
    const Shape axes = shape.axes();
    Shape strides;
    std::int64_t first = below(2), last = first;
    for (const std::int64_t extent : axes) {
      strides.push_back(below(3));
      last += (extent - 1) * strides.back();
    }
    return tape_.view(bounded(RowShape::vector(last + 1 + below(2)), depth), axes, first, strides);
  }

  StepVar regrouped(RowShape shape, int depth) {
    if (shape.rank > 0 && chance(0.2)) return viewed(shape, depth);
    if (shape.rank == 0) return sin(affine(shape, depth));
    if (shape.rank == 1 && chance(0.6)) return in_parts(shape.size, depth);
    if (shape.rank == 2) return tape_.reshape(bounded(RowShape::vector(shape.width()), depth), shape);
    for (const std::int64_t groups : {4, 3, 2, 1}) {
      if (shape.size % groups == 0)
        return tape_.reshape(bounded(RowShape::grouped(groups, shape.size / groups), depth), shape);
    }
    return leaf(shape);
  }

  // ---- The next value of a state ----

  StepVar next_value(StepVar h) {
    const RowShape shape = h.shape();
    switch (below(8)) {
      case 0: return leaf(shape);
      case 1: return 0.8 * h + 0.3 * sin(bounded(shape, 2));
      case 2: return h + 0.1 * tanh(bounded(shape, 2));
      case 3: return 0.9 * sin(bounded(shape, 3));
      default: {
        const StepVar gate = sigmoid(affine(shape, 1));
        return (1 - gate) * h + gate * tanh(bounded(shape, 3));
      }
    }
  }

  RandomStream& random_;
  StepTape tape_;
  std::int64_t steps_;
  const CaseLimits& limits_;
  std::vector<State> states_;
  std::vector<StepVar> made_;
  bool lags_ = true;
  int names_ = 0;
};

}  // namespace

StepProgram random_step(RandomStream& random, std::int64_t input_width, std::int64_t steps,
                        const CaseLimits& limits) {
  return RandomStep(random, input_width, steps, limits).with_states();
}

StepProgram random_coupled_step(RandomStream& random, std::int64_t input_width, const CaseLimits& limits) {
  return RandomStep(random, input_width, 1, limits).coupled();
}

StepProgram random_readout(RandomStream& random, std::int64_t input_width, std::int64_t output_width) {
  return RandomStep(random, input_width, 1, {}).readout(output_width);
}

}  // namespace lagtape::test
