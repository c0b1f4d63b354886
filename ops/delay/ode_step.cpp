#include "lagtape/ops/delay/ode_step.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {
namespace {

class OdeStep {
 public:
  OdeStep(const RightSide& side, const OdeSolver& solver, const std::vector<double>& lags)
      : side_(side), solver_(solver), lags_(lags), tape_(side.program.input.width()), n_(tape_.step_index()) {
    for (const RightSide::State& state : side.states) {
      const Instruction& v = side.program.values[state.value];
      states_.push_back(tape_.state(side.program.states[v.index].name, v.shape));
    }
    slopes_.resize(states_.size());
    ends_.resize(states_.size());
    for (const Instruction& v : side.program.values) reads_input_ = reads_input_ || v.op == StepOp::input;
    for (std::size_t s = 0; s < states_.size(); ++s) present_.push_back(from_start(s, 0, states_[s]));
  }

  StepProgram record() {
    const bool four = solver_.method == OdeMethod::rk4;
    const std::vector<double> c = four                                ? std::vector{0.0, 0.5, 0.5, 1.0}
                                  : solver_.method == OdeMethod::heun ? std::vector{0.0, 1.0}
                                                                      : std::vector{0.0};
    const std::vector<double> b = four           ? std::vector{1. / 6, 1. / 3, 1. / 3, 1. / 6}
                                  : c.size() > 1 ? std::vector{0.5, 0.5}
                                                 : std::vector{1.0};
    std::vector<StepVar> sum(states_.size()), f;
    for (std::size_t i = 0; i < c.size(); ++i) {
      Stage stage{.c = c[i], .y = i == 0 ? present_ : moved(c[i] * solver_.h, f), .time = time_at(c[i])};
      f.clear();
      for (const RightSide::State& state : side_.states) f.push_back(replayed(state.slope, stage));
      if (i == 0) first_ = f;
      if (solver_.method == OdeMethod::exponential_euler) scale_by_rates(f, stage);
      for (std::size_t s = 0; s < f.size(); ++s) sum[s] = i == 0 ? b[i] * f[s] : sum[s] + b[i] * f[s];
    }
    Stage end{.c = 1, .y = moved(solver_.h, sum), .time = time_at(1), .is_end = true};
    for (std::size_t s = 0; s < states_.size(); ++s) tape_.set_next(states_[s], end.y[s]);
    tape_.set_output(replayed(side_.output, end));
    if (std::ranges::any_of(ends_, [](const auto& state) { return state.has_value(); })) set_ends(end);
    for (std::size_t s = 0; s < states_.size(); ++s)
      if (slopes_[s]) tape_.set_next(*slopes_[s], first_[s]);
    return tape_.finish();
  }

 private:
  struct Stage {
    double c = 0;
    std::vector<StepVar> y;
    StepVar time;  // of the equations, or of a history
    bool is_end = false;
    std::map<int, StepVar> known = {};
  };

  StepVar time_at(double c) { return (n_ + c) * solver_.h; }

  void set_ends(const Stage& end) {
    Stage last{.c = 1, .y = end.y, .time = end.time};
    std::vector<StepVar> f;
    for (const RightSide::State& state : side_.states) f.push_back(replayed(state.slope, last));
    for (std::size_t s = 0; s < f.size(); ++s)
      if (ends_[s]) tape_.set_next(*ends_[s], f[s]);
  }

  std::vector<StepVar> moved(double by, const std::vector<StepVar>& f) {
    std::vector<StepVar> y;
    for (std::size_t s = 0; s < f.size(); ++s) y.push_back(present_[s] + by * f[s]);
    return y;
  }

  /// f -> (exp(z) - 1) / z f with z = h r.
  void scale_by_rates(std::vector<StepVar>& f, Stage& stage) {
    for (std::size_t s = 0; s < f.size(); ++s) {
      if (side_.states[s].rate < 0) continue;
      const StepVar z = solver_.h * replayed(side_.states[s].rate, stage);
      f[s] = (exp(z) - 1) / z * f[s];
    }
  }

  /// The history of a state, or its slope, at a time in steps.
  StepVar history(std::size_t state, StepVar steps, bool slope) {
    const int id = slope ? side_.states[state].history_slope : side_.states[state].history;
    if (id < 0) return tape_.constant(0);
    Stage before{.y = {}, .time = minimum(steps, tape_.constant(0)) * solver_.h};
    return replayed(id, before);
  }

  /// The value of a state `back` steps ago: what was remembered, and at t = 0 the history.
  StepVar from_start(std::size_t state, std::int64_t back, StepVar remembered) {
    const double ago = static_cast<double>(back);
    return where(above(n_, tape_.constant(ago)), remembered, history(state, tape_.constant(0), false));
  }
  StepVar state_at(std::size_t state, std::int64_t back) {
    return back == 0 ? present_[state] : from_start(state, back, tape_.lag(states_[state], back));
  }
  StepVar slope_at(std::size_t state, std::int64_t back) {
    if (back == 0) return first_.at(state);
    if (!slopes_[state])
      slopes_[state] = tape_.state(text_of("d", tape_.recorded().states[state].name), states_[state].shape());
    return tape_.lag(*slopes_[state], back - 1);
  }

  /// The slope at the end of the step that begins `back` steps ago, by that step's own input.
  StepVar end_slope(std::size_t state, std::int64_t back) {
    if (!ends_[state])
      ends_[state] =
          tape_.state(text_of("d", tape_.recorded().states[state].name, " at ends"), states_[state].shape());
    return tape_.lag(*ends_[state], back - 1);
  }

  StepVar past(std::size_t read, const Stage& stage) {
    if (stage.is_end)
      throw InputError(side_.reads[read].at, Rule::not_supported,
                       "the output of a model reads no past values");
    constexpr double kNear = 1e-9;
    const bool slope = side_.reads[read].slope;
    const auto state = static_cast<std::size_t>(side_.reads[read].state);
    const double ago = lags_[read] / solver_.h - stage.c;  // in steps, from the begin of this one
    const auto back = static_cast<std::int64_t>(std::ceil(ago - kNear));
    const double u = std::max(0.0, static_cast<double>(back) - ago), v = 1 - u;
    const bool from_left = slope && solver_.cut && stage.c == 1,
               from_right = slope && solver_.cut && stage.c == 0;
    StepVar value;
    if (u < kNear) {
      value = !slope ? state_at(state, back) : from_left ? end_slope(state, back + 1) : slope_at(state, back);
    } else {
      const StepVar y0 = state_at(state, back), y1 = state_at(state, back - 1);
      if (!solver_.hermite) {
        value = slope ? (y1 - y0) / solver_.h : v * y0 + u * y1;
      } else {
        const StepVar f0 = slope_at(state, back),
                      f1 = reads_input_ ? end_slope(state, back) : slope_at(state, back - 1);
        value = slope ? 6 * u * v / solver_.h * (y1 - y0) + v * (1 - 3 * u) * f0 + u * (3 * u - 2) * f1
                      : (1 + 2 * u) * v * v * y0 + u * u * (3 - 2 * u) * y1 +
                            solver_.h * u * v * (v * f0 - u * f1);
      }
    }
    // A time of 0 is of the history, whatever the rounding, but for a slope from the right.
    const double start = u < kNear ? static_cast<double>(back) - (from_right ? 0.5 : 0) : ago;
    const StepVar after_start = above(n_, tape_.constant(start));
    return where(after_start, value, history(state, n_ - ago, slope));
  }

  StepVar leaf(int id, const Instruction& v, const Stage& stage) {
    if (v.op == StepOp::input) return tape_.input();
    if (v.op == StepOp::constant) return tape_.constant(v.value);
    if (v.op == StepOp::weight) {
      const WeightDefinition& weight = side_.program.weights[v.index];
      return weight.shape.empty() ? tape_.scalar(weight.name) : tape_.vector(weight.name, weight.shape[0]);
    }
    if (id == side_.time || id == side_.history_time) return stage.time;
    for (std::size_t s = 0; s < side_.states.size(); ++s)
      if (side_.states[s].value == id) return stage.y.at(s);
    for (std::size_t r = 0; r < side_.reads.size(); ++r)
      if (side_.reads[r].value == id) return past(r, stage);
    throw Error("[ode] a leaf without a value");
  }

  StepMatrix matrix(int index) {
    const WeightDefinition& weight = side_.program.weights[index];
    const auto known = matrices_.find(index);
    if (known != matrices_.end()) return known->second;
    return matrices_[index] = tape_.matrix(weight.name, weight.shape[0], weight.shape[1]);
  }

  /// A value of the right side, recorded once more on the tape.
  StepVar replayed(int id, Stage& stage) {
    const Instruction& v = side_.program.values[id];
    auto& known = v.op == StepOp::weight ? weights_ : stage.known;
    if (const auto found = known.find(id); found != known.end()) return found->second;
    StepVar value;
    if (is_leaf(v.op)) {
      value = leaf(id, v, stage);
    } else {
      const StepVar a = replayed(v.a, stage), b = v.b < 0 ? a : replayed(v.b, stage);
      value = v.op == StepOp::product ? tape_.product(matrix(v.index), a) : tape_.replay(v, a, b);
    }
    known[id] = value;
    return value;
  }

  const RightSide& side_;
  const OdeSolver& solver_;
  const std::vector<double>& lags_;
  StepTape tape_;
  StepVar n_;
  std::vector<StepVar> states_, present_,
      first_;  // as remembered; with the history at 0; slopes of the first stage
  // Those of the steps before, at their begins and at their ends, where they are read.
  std::vector<std::optional<StepVar>> slopes_, ends_;
  bool reads_input_ = false;
  std::map<int, StepVar> weights_;
  std::map<int, StepMatrix> matrices_;
};

}  // namespace

StepProgram step_of(const RightSide& side, const OdeSolver& solver, const std::vector<double>& lags) {
  return OdeStep(side, solver, lags).record();
}

}  // namespace lagtape
