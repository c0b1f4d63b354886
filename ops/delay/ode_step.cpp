#include "lagtape/ops/delay/ode_step.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/delay/stage_recorder.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"

namespace lagtape {
namespace {

class OdeStep final : StageRecorder {
 public:
  OdeStep(const RightSide& side, const ModelSteps& steps)
      : StageRecorder(side, steps.input),
        steps_(steps),
        solver_(steps.solver),
        h_(solver_.dt / static_cast<double>(steps.parts)),
        n_(tape().step_index()),
        is_neutral_(std::ranges::any_of(side.reads, &PastRead::slope)),
        constant_(constant_values(side.program)) {
    ends_.resize(steps.parts);
    begins_.emplace_back();
    shifts_.resize(states().size());
    for (std::size_t s = 0; s < states().size(); ++s)
      if (solver_.method != OdeMethod::euler && has_even_history(s) && !is_zero_before(s))
        shifts_[s] = history(s, tape().constant(0), false);
    for (std::size_t s = 0; s < states().size(); ++s)
      begins_[0].push_back(from_start(s, {0, 0}, states()[s]));
  }

  StepProgram record() {
    for (part_ = 0; part_ < steps_.parts; ++part_) {
      const std::vector<StepVar> end = step();
      const bool last = part_ + 1 == steps_.parts;
      if (!last && is_neutral_) {
        Stage stage = stage_at(1, end);
        ends_[part_] = slopes(stage);
      }
      begins_.push_back(end);
    }
    part_ = steps_.parts - 1;
    for (std::size_t s = 0; s < states().size(); ++s) tape().set_next(states()[s], begins_.back()[s]);
    Stage output = stage_at(1, begins_.back());
    output.is_output = true;
    tape().set_output(value(side().output, output));
    finish_memory();
    return tape().finish();
  }

 private:
  /// A grid point: a number of data steps ago, and the method step that starts there.
  struct Point {
    std::int64_t ago = 0, part = 0;
  };
  using Kept = std::map<std::pair<std::size_t, std::int64_t>, StepVar>;  // by state and part

  StepVar time_at(double c) { return (n_ + (static_cast<double>(part_) + c) / parts()) * solver_.dt; }
  double parts() const { return static_cast<double>(steps_.parts); }
  /// The stage at which the states are these, minus their shifts.
  Stage stage_at(double c, std::vector<StepVar> y) {
    for (std::size_t s = 0; s < y.size(); ++s) y[s] = lifted(s, y[s]);
    return {
        .c = c, .y = std::move(y), .time = time_at(c), .input = reads_input() ? tape().input() : StepVar()};
  }

  /// One method step: returns the states at its end.
  std::vector<StepVar> step() {
    const Tableau tableau = tableau_of(solver_.method);
    const std::vector<StepVar> y = begins_.back();
    const auto moved = [&](double by, const std::vector<StepVar>& f) {
      std::vector<StepVar> to;
      for (std::size_t s = 0; s < f.size(); ++s) to.push_back(y[s] + by * f[s]);
      return to;
    };
    std::vector<StepVar> sum(y.size()), f;
    for (std::size_t i = 0; i < tableau.c.size(); ++i) {
      Stage stage = stage_at(tableau.c[i], i == 0 ? y : moved(tableau.c[i] * h_, f));
      f = slopes(stage);
      if (i == 0) firsts_.push_back(f);
      if (solver_.method == OdeMethod::exponential_euler) scale_by_rates(f, stage);
      for (std::size_t s = 0; s < f.size(); ++s)
        sum[s] = i == 0 ? tableau.b[i] * f[s] : sum[s] + tableau.b[i] * f[s];
    }
    return moved(h_, sum);
  }

  /// f -> (exp(z) - 1) / z f with z = h r.
  void scale_by_rates(std::vector<StepVar>& f, Stage& stage) {
    for (std::size_t s = 0; s < f.size(); ++s) {
      if (side().states[s].rate < 0) continue;
      const StepVar z = h_ * value(side().states[s].rate, stage);
      f[s] = (exp(z) - 1) / z * f[s];
    }
  }

  /// Sets the next values of the memory states.
  void finish_memory() {
    if (std::ranges::any_of(kept_ends_, [&](const auto& kept) { return is_last(kept.first.second); })) {
      Stage end = stage_at(1, begins_.back());
      ends_.back() = slopes(end);
    }
    const auto set = [&](const Kept& kept, const std::vector<std::vector<StepVar>>& all) {
      for (const auto& [key, state] : kept) tape().set_next(state, all[key.second][key.first]);
    };
    set(kept_ends_, ends_);
    set(kept_slopes_, firsts_);
    set(kept_states_, begins_);
  }
  bool is_last(std::int64_t part) const { return part + 1 == steps_.parts; }

  /// The state that remembers something about a part.
  StepVar kept(Kept& all, std::size_t state, std::int64_t part, const std::string& name) {
    StepVar& known = all[{state, part}];
    if (known.id() >= 0) return known;
    return known = tape().state(steps_.parts == 1 ? name : text_of(name, " of part ", part + 1),
                                states()[state].shape());
  }

  Point point(std::int64_t back) const {
    const std::int64_t at = part_ - back, ago = at >= 0 ? 0 : (-at + steps_.parts - 1) / steps_.parts;
    return {ago, at + ago * steps_.parts};
  }

  /// Whether a state has the same value at all t <= 0.
  bool has_even_history(std::size_t state) const {
    const int id = side().states[state].history;
    return id < 0 || constant_[id];
  }
  /// Whether the memory of a state, which is 0 initially, is correct at all t <= 0.
  bool is_zero_before(std::size_t state) const {
    const int id = side().states[state].history;
    const auto is_zero = [](const Instruction& v) { return v.op == StepOp::constant && v.value == 0; };
    return id < 0 || shifts_[state].id() >= 0 || is_zero(side().program.values[id]);
  }
  StepVar before_start(std::size_t state, StepVar time, bool slope) {
    const bool is_shifted = !slope && shifts_[state].id() >= 0;
    return is_shifted ? tape().constant(0) : history(state, time, slope);
  }
  StepVar lifted(std::size_t state, StepVar shifted) const {
    return shifts_[state].id() < 0 ? shifted : shifted + shifts_[state];
  }

  /// The value of a state at a point: the remembered value or, at t = 0, the history.
  StepVar from_start(std::size_t state, Point at, StepVar remembered) {
    if (is_zero_before(state)) return remembered;
    const double ago = static_cast<double>(at.ago) - (at.part > 0 ? 0.5 : 0);
    return where(above(n_, tape().constant(ago)), remembered, history(state, tape().constant(0), false));
  }
  StepVar state_at(std::size_t state, std::int64_t back) {
    const Point at = point(back);
    return at.ago == 0 ? begins_[at.part][state] : from_start(state, at, remembered_at(state, at));
  }
  StepVar remembered_at(std::size_t state, Point at) {
    if (at.ago == 0) return begins_[at.part][state];
    if (at.part == 0) return tape().lag(states()[state], at.ago);
    return tape().lag(kept(kept_states_, state, at.part, name_of_state(state)), at.ago - 1);
  }
  StepVar slope_at(std::size_t state, std::int64_t back) {
    const Point at = point(back);
    if (at.ago == 0) return firsts_.at(at.part).at(state);
    return tape().lag(kept(kept_slopes_, state, at.part, text_of("d", name_of_state(state))), at.ago - 1);
  }

  /// The slope at the end of the step that starts `back` steps ago, computed with that step's own input.
  StepVar end_slope(std::size_t state, std::int64_t back) {
    const Point at = point(back);
    if (at.ago == 0) return ends_.at(at.part).at(state);
    return tape().lag(kept(kept_ends_, state, at.part, text_of("d", name_of_state(state), " at ends")),
                      at.ago - 1);
  }

  StepVar past(std::size_t read, Stage& stage) override {
    if (stage.is_output)
      throw InputError(side().reads[read].at, Rule::not_supported,
                       "the output of a model reads no past values");
    constexpr double kNear = 1e-9;
    const bool slope = side().reads[read].slope;
    const auto state = static_cast<std::size_t>(side().reads[read].state);
    const double ago = steps_.lags[read].low / h_ - stage.c;  // in steps, from the start of this one
    const auto back = static_cast<std::int64_t>(std::ceil(ago - kNear));
    const double u = std::max(0.0, static_cast<double>(back) - ago), v = 1 - u;
    const bool from_left = slope && solver_.cut && stage.c == 1,
               from_right = slope && solver_.cut && stage.c == 0;
    if (u < kNear && !slope && has_even_history(state)) return lifted(state, state_at(state, back));
    bool is_masked = slope || !is_zero_before(state);  // else a read before 0 gives 0
    StepVar value;
    if (u < kNear) {
      value = !slope      ? remembered_at(state, point(back))
              : from_left ? end_slope(state, back + 1)
                          : slope_at(state, back);
    } else {
      const StepVar y0 = state_at(state, back), y1 = state_at(state, back - 1);
      if (!solver_.hermite) {
        value = slope ? (y1 - y0) / h_ : v * y0 + u * y1;
      } else {
        const bool jumps =
            is_neutral_ || ((reads_input() || is_zero_before(state)) && is_last(point(back).part));
        is_masked = is_masked || !jumps;  // a step that ends at 0 has no slope from after it
        const StepVar f0 = slope_at(state, back),
                      f1 = jumps ? end_slope(state, back) : slope_at(state, back - 1);
        value = slope ? 6 * u * v / h_ * (y1 - y0) + v * (1 - 3 * u) * f0 + u * (3 * u - 2) * f1
                      : (1 + 2 * u) * v * v * y0 + u * u * (3 - 2 * u) * y1 + h_ * u * v * (v * f0 - u * f1);
      }
    }
    if (!is_masked) return lifted(state, value);
    // A time of 0 belongs to the history, whatever the rounding, except for a slope from the right.
    const double start = u < kNear ? static_cast<double>(back) - (from_right ? 0.5 : 0) : ago;
    const auto begin = static_cast<double>(part_);
    const StepVar after_start = above(n_, tape().constant((start - begin) / parts()));
    value =
        where(after_start, value, before_start(state, (n_ - (ago - begin) / parts()) * solver_.dt, slope));
    return slope ? value : lifted(state, value);
  }

  const ModelSteps& steps_;
  const OdeSolver& solver_;
  const double h_;
  StepVar n_;
  const bool is_neutral_;
  const std::vector<bool> constant_;  // of the values of the right-hand side
  std::int64_t part_ = 0;
  /// States with a constant history are recorded minus these values: they then start at 0, like the memory, and
  /// no step needs to test whether a time is before the start. Not with euler, whose steps are those of the
  /// same cell written as steps.
  std::vector<StepVar> shifts_;
  // For each part of this step: the states and slopes at its start, and the slopes at its end.
  std::vector<std::vector<StepVar>> begins_, firsts_, ends_;
  Kept kept_states_, kept_slopes_, kept_ends_;  // those of the previous steps, if they are read
};

}  // namespace

StepProgram step_of(const RightSide& side, const ModelSteps& steps) { return OdeStep(side, steps).record(); }

}  // namespace lagtape
