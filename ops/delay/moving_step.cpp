#include "lagtape/ops/delay/moving_step.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/delay/past_window.h"
#include "lagtape/ops/delay/stage_recorder.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"

namespace lagtape {
namespace {

/// Tolerances for treating times as equal, as fractions of a method step: grid points closer than this are
/// merged, and reads within twice that distance (a point may be moved twice) are from the stage's own side.
constexpr double kNearPoint = 1e-4, kNearRead = 2 * kNearPoint;

constexpr std::size_t kMostCuts = 256;  // per data step: the program grows with them

double largest_lag(const ModelSteps& steps) {
  double largest = 0;
  for (const Bounds& lag : steps.lags) largest = std::max(largest, lag.high);
  return largest;
}
double least_lag(const ModelSteps& steps) {
  double least = Bounds{}.high;
  for (const Bounds& lag : steps.lags) least = std::min(least, lag.low);
  return least;
}

/// A, but b where |a - b| < near.
StepVar drawn_to(StepVar a, StepVar b, double near) {
  return where(above(a.tape().constant(near), abs(a - b)), b, a);
}

class MovingStep final : StageRecorder {
 public:
  MovingStep(const RightSide& side, const ModelSteps& steps)
      : StageRecorder(side, steps.input),
        steps_(steps),
        solver_(steps.solver),
        n_(tape().step_index()),
        constant_(constant_values(side.program)) {
    const double least = solver_.given ? solver_.given->low : solver_.dt;
    largest_dt_ = solver_.given ? solver_.given->high : solver_.dt;
    near_ = kNearRead * least / static_cast<double>(steps.parts);
    dt_ = solver_.given ? given_time() : tape().constant(solver_.dt);
    begin_ = solver_.given ? tape().state("time", RowShape::scalar()) : n_ * solver_.dt;
    if (reads_input()) {
      input_ = solver_.given ? tape().slice(tape().input(), 0, steps.input - 1) : tape().input();
      if (!solver_.hold) last_input_ = tape().state("last input", input_->shape());
    }
    const StepVar start = tape().constant(0);
    for (std::size_t s = 0; s < states().size(); ++s)
      present_.push_back(where(above(n_, start), states()[s], history(s, start, false)));
    points_ = make_points();
    const double kept = std::ceil(largest_lag(steps) / least - 1e-9);
    window_.emplace(tape(), static_cast<std::int64_t>(kept) * (std::ssize(points_) - 1) + 1);
    add_rows();
    window_->begin(start);
    at_base_ = present_;
  }

  StepProgram record() {
    const bool reads_own_step = least_lag(steps_) < largest_dt_;
    std::vector<StepVar> f;  // at the start of a step
    std::vector<PastWindow::Entry> made;
    for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
      if (reads_own_step && i > 0) push(std::exchange(made, {}), points_[i]);
      if (i == 0 || is_neutral()) {
        Stage first = stage_at(i, 0, present_);
        f = slopes(first);
      }
      const std::vector<StepVar> y = present_;
      present_ = stepped(i, f);
      Stage last = stage_at(i, 1, present_);
      const std::vector<StepVar> g = slopes(last);
      made.push_back(entry(points_[i], y, f, g));
      f = next_slopes(i, f, g);
    }
    push(made, points_.back());
    Stage output = stage_at(points_.size() - 2, 1, present_);
    tape().set_output(value(side().output, output));
    for (std::size_t s = 0; s < states().size(); ++s) tape().set_next(states()[s], present_[s]);
    if (last_input_) tape().set_next(*last_input_, *input_);
    if (solver_.given) tape().set_next(begin_, begin_ + dt_);
    window_->finish();
    return tape().finish();
  }

 private:
  struct Rows {
    std::optional<std::size_t> y, f, g;  // states at the start; slopes at the start and at the end
  };

  /// The last number of the input; NaN outside its bounds.
  StepVar given_time() {
    const StepVar given = sum(tape().slice(tape().input(), steps_.input - 1, steps_.input));
    constexpr double kOver = 1e-4, kSteep = 1e9;
    const StepVar inside =
        minimum(minimum(solver_.given->high * (1 + kOver) - given, given - solver_.given->low * (1 - kOver)),
                tape().constant(0));
    return given * sqrt(1 + kSteep / solver_.given->high * inside);
  }

  std::vector<int> constant_lags() const {
    std::vector<int> lags;
    for (const PastRead& read : side().reads)
      if (constant_[read.lag] && !read.spread && std::ranges::find(lags, read.lag) == lags.end())
        lags.push_back(read.lag);
    return lags;
  }

  bool is_neutral() const { return std::ranges::any_of(side().reads, &PastRead::slope); }

  std::int64_t levels() const {
    const int order = order_of(solver_.method);
    if (solver_.levels >= 0) return solver_.levels;
    // The remaining ones have no effect on the order of derivatives with respect to the lag; slopes of the past
    // never smooth.
    return is_neutral() || solver_.levels == OdeSolver::kAllLevels ? 2 * order : order;
  }

  /// All sums of 1 to `levels` lags.
  std::vector<StepVar> sums_of_lags() {
    const std::vector<int> lags = constant_lags();
    std::vector<StepVar> all;
    std::vector<std::pair<std::size_t, StepVar>> last = {{0, tape().constant(0)}};
    for (std::int64_t level = 1; level <= levels(); ++level) {
      std::vector<std::pair<std::size_t, StepVar>> next;
      for (const auto& [from, so_far] : last)
        for (std::size_t l = from; l < lags.size(); ++l) {
          Stage none;
          next.emplace_back(l, so_far + scalar(value(lags[l], none)));
          all.push_back(next.back().second);
          if (all.size() > kMostCuts)
            throw InputError({.item = "levels"}, Rule::no_memory,
                             "there are too many breaks to follow in a step",
                             text_of("more than ", kMostCuts), "Follow them less often: \"levels\": 2.");
        }
      last = std::move(next);
    }
    return all;
  }

  StepVar scalar(StepVar a) {
    while (a.shape().rank > 0) a = sum(a);
    return a;
  }

  /// The breaks in a data step, as times from its start. All others are at its ends.
  std::vector<StepVar> breaks() {
    std::vector<StepVar> all;
    if (!solver_.cut) return all;
    const bool of_samples = reads_input() && !solver_.given;
    const std::vector<int> lags = constant_lags();
    const double most = std::ceil(largest_dt_ / least_lag(steps_));  // multiples of a lag in a data step
    if (!of_samples && lags.size() == 1 && most < static_cast<double>(levels())) {
      Stage none;
      const StepVar lag = scalar(value(lags[0], none)), passed = floor(begin_ / lag);
      for (double k = 1; k <= most; ++k) {
        const StepVar level = passed + k, last = tape().constant(static_cast<double>(levels()) + 0.5);
        all.push_back(minimum(where(above(last, level), level * lag - begin_, dt_), dt_));
      }
      return all;
    }
    for (const StepVar& travelled : sums_of_lags()) {
      // Samples are breaks too, and if they are evenly spaced, all steps are cut at the same places.
      const bool of_samples = reads_input() && !solver_.given;
      const StepVar at =
          of_samples ? travelled - floor(travelled / solver_.dt) * solver_.dt : travelled - begin_;
      all.push_back(minimum(maximum(at, tape().constant(0)), dt_));
    }
    return all;
  }

  std::vector<StepVar> make_points() {
    const double parts = static_cast<double>(steps_.parts);
    const double near = near_ * (kNearPoint / kNearRead);
    std::vector<StepVar> cuts = breaks(), all = {tape().constant(0)};
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      cuts[i] = drawn_to(drawn_to(cuts[i], tape().constant(0), near), dt_, near);
      for (std::size_t j = 0; j < i; ++j) cuts[i] = drawn_to(cuts[i], cuts[j], near);
    }
    for (std::int64_t k = 1; k < steps_.parts; ++k) {
      all.push_back(dt_ * (static_cast<double>(k) / parts));
      for (const StepVar& cut : cuts) all.back() = drawn_to(all.back(), cut, near);
    }
    all.push_back(dt_);
    cuts_ = cuts.size();
    for (const StepVar& cut : cuts) {
      std::vector<StepVar> with = {all.front()};
      for (std::size_t i = 1; i < all.size(); ++i) with.push_back(maximum(all[i - 1], minimum(all[i], cut)));
      with.push_back(all.back());
      all = std::move(with);
    }
    return all;
  }

  void add_rows() {
    rows_.resize(states().size());
    for (const PastRead& read : side().reads) {
      const auto s = static_cast<std::size_t>(read.state);
      if (rows_[s].y) continue;
      const std::int64_t width = states()[s].shape().width();
      rows_[s].y = window_->add(text_of("past ", name_of_state(s)), width);
      if (!solver_.hermite) continue;
      rows_[s].f = window_->add(text_of("past d", name_of_state(s)), width);
      rows_[s].g = window_->add(text_of("past d", name_of_state(s), " at ends"), width);
    }
  }

  void push(const std::vector<PastWindow::Entry>& made, StepVar base) {
    window_->push(made, base);
    at_base_ = present_;
  }

  PastWindow::Entry entry(StepVar begin, const std::vector<StepVar>& y, const std::vector<StepVar>& f,
                          const std::vector<StepVar>& g) const {
    PastWindow::Entry made{begin, {}};
    for (std::size_t s = 0; s < rows_.size(); ++s) {
      if (rows_[s].y) made.rows.push_back(y[s]);
      if (rows_[s].f) made.rows.insert(made.rows.end(), {f[s], g[s]});
    }
    return made;
  }

  /// The slopes at the start of the step after step i: those at its end. If a break was merged with the start
  /// of the data step, the steps up to it have zero width, and slopes are from its other side.
  std::vector<StepVar> next_slopes(std::size_t i, const std::vector<StepVar>& f,
                                   const std::vector<StepVar>& g) {
    if (i >= cuts_) return g;
    const StepVar has_width = above(points_[i + 1] - points_[i], tape().constant(0));
    std::vector<StepVar> next;
    for (std::size_t s = 0; s < g.size(); ++s) next.push_back(where(has_width, g[s], f[s]));
    return next;
  }

  Stage stage_at(std::size_t i, double c, std::vector<StepVar> y) {
    const StepVar at = c == 1 ? points_[i + 1] : points_[i] + c * (points_[i + 1] - points_[i]);
    Stage stage{.c = c, .y = std::move(y), .time = begin_ + at, .offset = at};
    if (!input_) return stage;
    stage.input = *input_;
    if (last_input_) {
      const StepVar last = where(above(n_, tape().constant(0)), *last_input_, *input_);
      stage.input = last + at / dt_ * (*input_ - last);
    }
    return stage;
  }

  /// The states at the end of a method step, from its first slopes.
  std::vector<StepVar> stepped(std::size_t step, const std::vector<StepVar>& first) {
    const Tableau tableau = tableau_of(solver_.method);
    const StepVar width = points_[step + 1] - points_[step];
    const auto moved = [&](const StepVar& by, const std::vector<StepVar>& f) {
      std::vector<StepVar> to;
      for (std::size_t s = 0; s < f.size(); ++s) to.push_back(present_[s] + by * f[s]);
      return to;
    };
    std::vector<StepVar> sum, f = first;
    for (std::size_t i = 0; i < tableau.c.size(); ++i) {
      Stage stage = stage_at(step, tableau.c[i], i == 0 ? present_ : moved(tableau.c[i] * width, f));
      if (i > 0) f = slopes(stage);
      if (solver_.method == OdeMethod::exponential_euler) scale_by_rates(f, width, stage);
      for (std::size_t s = 0; s < f.size(); ++s)
        i == 0 ? sum.push_back(tableau.b[i] * f[s]) : void(sum[s] = sum[s] + tableau.b[i] * f[s]);
    }
    return moved(width, sum);
  }

  /// f -> (exp(z) - 1) / z f with z = width * r, which may be 0.
  void scale_by_rates(std::vector<StepVar>& f, StepVar width, Stage& stage) {
    constexpr double kSmall = 1e-3;
    for (std::size_t s = 0; s < f.size(); ++s) {
      if (side().states[s].rate < 0) continue;
      const StepVar z = width * value(side().states[s].rate, stage);
      const StepVar small = above(tape().constant(kSmall), abs(z)),
                    other = where(small, tape().constant(1), z);
      f[s] = where(small, 1 + z * (0.5 + z * (1. / 6 + z / 24)), (exp(other) - 1) / other) * f[s];
    }
  }

  StepVar past(std::size_t number, Stage& stage) override {
    const PastRead& read = side().reads[number];
    const auto state = static_cast<std::size_t>(read.state);
    const StepVar lag = scalar(value(read.lag, stage));
    const StepVar age = window_->base() - stage.offset + lag;
    // A read at a grid point is from the stage's own side.
    const PastWindow::Found found = window_->find(age, stage.c == 0 ? -near_ : stage.c == 1 ? near_ : 0);
    const StepVar is_found = above(found.width, tape().constant(0));
    const StepVar width = where(is_found, found.width, tape().constant(1)), u = (found.age - age) / width;
    const auto shaped = [&](StepVar row) {
      const RowShape& shape = states()[state].shape();
      return shape.rank == 0 || row.shape() == shape ? row
             : row.shape().rank == 0                 ? tape().broadcast(row, shape)
                                                     : tape().reshape(row, shape);
    };
    const Rows& rows = rows_[state];
    const StepVar y0 = shaped(window_->row(found, *rows.y)),
                  y1 = shaped(window_->next_row(found, *rows.y, at_base_.at(state)));
    StepVar inside;
    if (!solver_.hermite) {
      inside = read.slope ? (y1 - y0) / width : y0 + u * (y1 - y0);
    } else {
      const StepVar f0 = shaped(window_->row(found, *rows.f)), f1 = shaped(window_->row(found, *rows.g)),
                    v = 1 - u;
      inside = read.slope ? 6 * u * v / width * (y1 - y0) + v * (1 - 3 * u) * f0 + u * (3 * u - 2) * f1
                          : y0 + u * u * (3 - 2 * u) * (y1 - y0) + width * u * v * (v * f0 - u * f1);
    }
    return where(is_found, inside, past_history(state, stage.time - lag, read.slope));
  }

  /// The history and, near t = 0, the line that it ends in: a read across 0, from a merged point, has the slope
  /// before 0.
  StepVar past_history(std::size_t state, StepVar time, bool slope) {
    const RightSide::State& of = side().states[state];
    if (slope || of.history_slope < 0) return history(state, time, slope);
    const StepVar begin = minimum(time, tape().constant(-near_));
    return history(state, begin, false) + (time - begin) * history(state, begin, true);
  }

  const ModelSteps& steps_;
  const OdeSolver& solver_;
  StepVar n_;
  std::vector<bool> constant_;
  double largest_dt_ = 0, near_ = 0;
  StepVar dt_, begin_;  // of a data step: its time, and when it starts
  std::optional<StepVar> input_, last_input_;
  std::vector<StepVar> present_, at_base_;  // the current states, and those at the end of the window
  std::size_t cuts_ = 0;                    // breaks in a data step
  std::vector<StepVar> points_;             // of the grid, from the start of the data step
  std::optional<PastWindow> window_;
  std::vector<Rows> rows_;
};

}  // namespace

StepProgram moving_step_of(const RightSide& side, const ModelSteps& steps) {
  return MovingStep(side, steps).record();
}

}  // namespace lagtape
