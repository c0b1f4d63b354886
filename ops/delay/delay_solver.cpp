#include "lagtape/ops/delay/delay_solver.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/ops/delay/delay_grid.h"
#include "lagtape/ops/delay/dense_values.h"
#include "lagtape/ops/delay/dual_program.h"
#include "lagtape/ops/delay/switches.h"

namespace lagtape {
namespace {

/// (exp(z) - 1) / z and its derivative.
std::pair<double, double> phi(double z) {
  const double value = z == 0 ? 1 : std::expm1(z) / z;
  constexpr double kSmall = 1e-3;
  if (std::abs(z) < kSmall) return {value, 0.5 + z / 3 + z * z / 8 + z * z * z / 30};
  return {value, (std::exp(z) - value) / z};
}

/// The side of its time on which a slope is taken: at the start of a step, at its end, or in between.
enum class Side : std::uint8_t { right, left, between };

std::vector<int> roots_of_slopes(const RightSide& side) {
  std::vector<int> roots;
  for (const RightSide::State& state : side.states) {
    roots.push_back(state.slope);
    if (state.rate >= 0) roots.push_back(state.rate);
  }
  return roots;
}

std::vector<int> roots_of_lags(const RightSide& side) {
  std::vector<int> roots;
  const std::vector<bool> constant = constant_values(side.program);
  for (const PastRead& read : side.reads)
    if (constant[read.lag]) roots.push_back(read.lag);
  return roots;
}

class Solver {
 public:
  explicit Solver(const DelayProblem& problem)
      : problem_(problem),
        side_(problem.side),
        p_(problem.directions.size()),
        slopes_(side_, roots_of_slopes(side_), problem.weights, problem.directions),
        lags_(side_, roots_of_lags(side_), problem.weights, problem.directions),
        dense_(side_, problem),
        n_(dense_.width()) {
    const std::vector<bool> constant = constant_values(side_.program);
    constant_.assign(constant.begin(), constant.end());
    for (const int id : slopes_.leaves()) kinds_.push_back({id, kind_of(id)});
  }

  DelaySolution solve(const std::vector<double>& times) {
    const double end = times.empty() ? 0 : *std::ranges::max_element(times);
    const GridParts parts = parts_of(std::max(end, 0.0));
    check_memory(parts);
    dense_.begin(make_grid(parts));
    const std::size_t steps = dense_.grid().points.size() - 1;
    for (std::size_t n = 0; n < steps; ++n) step(n);
    DelaySolution solution;
    solution.steps = static_cast<std::int64_t>(steps);
    Duals out(n_, p_);
    for (const double t : times) {
      dense_.read({t, std::vector<double>(p_)}, {.last = steps}, out);
      solution.y.insert(solution.y.end(), out.v.begin(), out.v.end());
      solution.d.insert(solution.d.end(), out.d.begin(), out.d.end());
    }
    solution.gaps = std::move(gaps_);
    solution.gaps_d = std::move(gaps_d_);
    return solution;
  }

 private:
  struct Leaf {
    enum class Kind : std::uint8_t { state, time, read, input } kind = Kind::input;
    std::size_t index = 0;
  };

  Leaf kind_of(int id) const {
    if (id == side_.time) return {Leaf::Kind::time, 0};
    for (std::size_t i = 0; i < side_.states.size(); ++i)
      if (side_.states[i].value == id) return {Leaf::Kind::state, i};
    for (std::size_t i = 0; i < side_.reads.size(); ++i)
      if (side_.reads[i].value == id) return {Leaf::Kind::read, i};
    return {};
  }

  /// Throws if the states and slopes of all steps need more than half of the memory.
  void check_memory(const GridParts& parts) const {
    const auto numbers = static_cast<double>((3 * n_ + 2) * (1 + p_) + 16);
    const double bytes = parts.end / parts.h.v * numbers * sizeof(double);
    if (bytes > static_cast<double>(system_memory()) / 2)
      throw InputError({.item = "h"}, Rule::no_memory,
                       text_of("all steps to t = ", parts.end, " need more than half of the memory"),
                       text_of(bytes, " bytes"));
  }

  Dual number(DualProgram& program, int value) const {
    const auto d = program.tangents(value);
    return {program.values(value)[0], {d.begin(), d.end()}};
  }

  bool is_neutral() const { return std::ranges::any_of(side_.reads, &PastRead::slope); }

  GridParts parts_of(double end) {
    const OdeSolver& solver = problem_.solver;
    GridParts parts{.h = {solver.h, std::vector<double>(p_)}, .end = end};
    if (solver.parts > 0) parts.h = step_of_lag();
    for (const PastRead& read : side_.reads) {
      if (!constant_[read.lag]) continue;
      const Dual lag = number(lags_, read.lag);
      if (!(lag.v >= parts.h.v * (1 - 1e-9)))
        throw InputError(read.at, Rule::out_of_range,
                         lag.v > 0 ? text_of("the lag ", lag.v, " is shorter than a step, h = ", parts.h.v,
                                             "; the largest h that serves is ", lag.v)
                                   : std::string("a lag is above 0; the future is not known"),
                         text_of(lag.v));
      (read.spread ? parts.spread : parts.lags).push_back(lag);
    }
    parts.samples = problem_.input_times;
    for (const Restart& restart : problem_.restarts) parts.samples.push_back(restart.t);
    parts.cut = solver.cut;
    parts.levels = solver.levels;
    if (solver.levels == OdeSolver::kDefaultLevels) parts.levels = order_of(solver.method) + 1;
    if (solver.levels == OdeSolver::kAllLevels ||
        (solver.levels == OdeSolver::kDefaultLevels && is_neutral()))
      parts.levels = std::int64_t{1} << 40;
    if (!problem_.restarts.empty()) ++parts.levels;
    if (parts.cut) find_switches(parts);
    return parts;
  }

  /// Times at which the right-hand side takes another branch, and those of histories as far back as they are
  /// read.
  void find_switches(GridParts& parts) {
    double longest = parts.h.v;
    for (const std::vector<Dual>* lags : {&parts.lags, &parts.spread})
      for (const Dual& lag : *lags) longest = std::max(longest, lag.v);
    parts.switches = switch_times(problem_, roots_of_slopes(side_), side_.time, {0, parts.end, parts.h.v});
    has_switches_ = !parts.switches.empty();
    const std::vector<Dual> before =
        switch_times(problem_, roots_of_histories(side_), side_.history_time, {-longest, 0, parts.h.v});
    for (const ObservedHistory& readings : problem_.observed)  // where cubics meet
      for (const double t : readings.times)
        if (t < 0 && t > -longest) parts.switches.push_back({t, std::vector<double>(p_)});
    if (before.empty()) return;
    // A jump in a state is a jump in its slope one lag later.
    ++parts.levels;
    parts.switches.insert(parts.switches.end(), before.begin(), before.end());
    dense_.jump_before_0();
  }

  Dual step_of_lag() const {
    const auto& weights = side_.program.weights;
    for (std::size_t w = 0; w < weights.size(); ++w) {
      if (weights[w].name != problem_.solver.lag) continue;
      const auto parts = static_cast<double>(problem_.solver.parts);
      Dual h{problem_.weights[w][0] / parts, std::vector<double>(p_)};
      for (std::size_t p = 0; p < p_; ++p)
        if (problem_.directions[p].first == static_cast<int>(w)) h.d[p] = 1 / parts;
      if (!(h.v > 0))
        throw InputError({.item = text_of("param '", weights[w].name, "'")}, Rule::out_of_range,
                         "a lag is above 0; the future is not known", text_of(problem_.weights[w][0]));
      return h;
    }
    throw Error("[ode] the lag of the step is no weight");
  }

  /// The slopes at a time within step n, taken from one side of it; and the rates.
  void evaluate(const Dual& t, const Duals& y, Side side, std::size_t n, Duals& f) {
    std::size_t next = 0;
    slopes_.run([&](int id, bool tangents) {
      while (kinds_[next % kinds_.size()].first != id) ++next;
      const Leaf leaf = kinds_[next % kinds_.size()].second;
      if (leaf.kind == Leaf::Kind::read) return give_past(id, side_.reads[leaf.index], t, side, n, tangents);
      if (leaf.kind == Leaf::Kind::time) {
        if (tangents) return void(std::ranges::copy(t.d, slopes_.tangents(id).begin()));
        slopes_.values(id)[0] = t.v + (has_switches_ ? into_step(side, n) : 0);
      } else if (leaf.kind == Leaf::Kind::state) {
        const std::size_t at = dense_.offset(leaf.index), width = slopes_.values(id).size();
        if (tangents) return void(std::copy_n(&y.d[at * p_], width * p_, slopes_.tangents(id).begin()));
        std::copy_n(&y.v[at], width, slopes_.values(id).begin());
      } else {
        give_input(id, t, n, tangents);
      }
    });
    for (std::size_t s = 0; s < side_.states.size(); ++s) {
      const int id = side_.states[s].slope;
      std::ranges::copy(slopes_.values(id), f.v.begin() + static_cast<std::ptrdiff_t>(dense_.offset(s)));
      std::ranges::copy(slopes_.tangents(id),
                        f.d.begin() + static_cast<std::ptrdiff_t>(dense_.offset(s) * p_));
    }
    if (!std::ranges::all_of(f.v, [](double x) { return std::isfinite(x); })) fail_at(t.v);
  }

  /// How far a time at a break is moved into the step, so that functions of time take the step's own branch.
  double into_step(Side side, std::size_t n) const {
    const MovingGrid& grid = dense_.grid();
    if (side == Side::right && grid.points[n].is_break) return 2 * grid.tolerance;
    return side == Side::left && grid.points[n + 1].is_break ? -2 * grid.tolerance : 0;
  }

  void give_past(int id, const PastRead& read, const Dual& t, Side side, std::size_t n, bool tangents) {
    DualProgram& lags = constant_[read.lag] ? lags_ : slopes_;
    Dual s = t;
    s.v -= lags.values(read.lag)[0];
    if (tangents) {
      const auto d = lags.tangents(read.lag);
      for (std::size_t p = 0; p < p_; ++p) s.d[p] -= d[p];
    }
    const double tolerance = dense_.grid().tolerance, now = dense_.grid().points[n].t.v;
    if (!(s.v <= now + tolerance)) {
      if (std::isfinite(s.v))
        throw InputError(read.at, Rule::out_of_range,
                         text_of("at t = ", t.v, " the lag ", t.v - s.v, " reads a value that this step of ",
                                 dense_.grid().points[n + 1].t.v - now,
                                 " has yet to make; lags are at least as long as a step"));
      fail_at(t.v);
    }
    const std::size_t at = dense_.offset(static_cast<std::size_t>(read.state)),
                      width = slopes_.values(id).size();
    const bool own_side = problem_.solver.cut && constant_[read.lag];
    DenseRead how{.first = at, .count = width, .slope = read.slope, .last = n};
    if (own_side)
      how.from = side == Side::right  ? DenseRead::From::right
                 : side == Side::left ? DenseRead::From::left
                                      : DenseRead::From::any;
    past_.v.resize(width);
    past_.d.resize(width * p_);
    if (!tangents) {
      dense_.read_values(s.v, how, past_.v);
      return void(std::ranges::copy(past_.v, slopes_.values(id).begin()));
    }
    dense_.read(s, how, past_);
    std::ranges::copy(past_.d, slopes_.tangents(id).begin());
  }

  void give_input(int id, const Dual& t, std::size_t n, bool tangents) {
    const std::vector<double>& times = problem_.input_times;
    if (times.empty())
      throw InputError({.item = "--input"}, Rule::missing,
                       "the equations read an input, which must be given");
    const std::span<double> out = slopes_.values(id);
    const std::size_t width = out.size();
    const double begin = dense_.grid().points[n].t.v + dense_.grid().tolerance;
    const auto after = static_cast<std::size_t>(std::ranges::upper_bound(times, begin) - times.begin());
    const std::size_t row = after == 0 ? 0 : after - 1;
    const double* u = &problem_.inputs[row * width];
    const bool between = !problem_.solver.hold && after > 0 && after < times.size();
    const double gap = between ? times[row + 1] - times[row] : 1,
                 part = between ? (t.v - times[row]) / gap : 0;
    for (std::size_t i = 0; i < width; ++i) {
      const double rise = between ? u[width + i] - u[i] : 0;
      if (!tangents) out[i] = u[i] + part * rise;
      for (std::size_t p = 0; tangents && p < p_; ++p)
        slopes_.tangents(id)[i * p_ + p] = t.d[p] * (rise / gap);
    }
  }

  void step(std::size_t n) {
    const MovingGrid& grid = dense_.grid();
    const Dual &t = grid.points[n].t, &end = grid.points[n + 1].t;
    const double w = end.v - t.v;
    const Tableau tableau = tableau_of(problem_.solver.method);
    Duals y = dense_.state(n), sum(n_, p_), stage = y, f(n_, p_), next = y;
    std::vector<double> wd(p_);
    for (std::size_t p = 0; p < p_; ++p) wd[p] = end.d[p] - t.d[p];
    /// y + factor * w * k
    const auto moved = [&](double factor, const Duals& k, Duals& to) {
      for (std::size_t i = 0; i < n_; ++i) {
        to.v[i] = y.v[i] + factor * w * k.v[i];
        for (std::size_t p = 0; p < p_; ++p)
          to.d[i * p_ + p] = y.d[i * p_ + p] + factor * (w * k.d[i * p_ + p] + wd[p] * k.v[i]);
      }
    };
    for (std::size_t i = 0; i < tableau.c.size(); ++i) {
      const double c = tableau.c[i];
      Dual at{t.v + c * w, t.d};
      for (std::size_t p = 0; p < p_; ++p) at.d[p] += c * wd[p];
      if (c == 1) at = end;
      if (i > 0) moved(c, f, stage);
      evaluate(at, stage, c == 0 ? Side::right : c == 1 ? Side::left : Side::between, n, f);
      if (i == 0) dense_.set_slope(n, f);
      for (std::size_t j = 0; j < sum.v.size(); ++j) sum.v[j] += tableau.b[i] * f.v[j];
      for (std::size_t j = 0; j < sum.d.size(); ++j) sum.d[j] += tableau.b[i] * f.d[j];
    }
    if (problem_.solver.method == OdeMethod::exponential_euler) scale_by_rates(w, wd, sum);
    moved(1, sum, next);
    dense_.set_state(n + 1, next);
    if (grid.points[n + 1].is_break || n + 2 == grid.points.size()) {
      evaluate(end, next, Side::left, n, f);
      dense_.set_slope_before(n + 1, f);
    }
    for (; restarted_ < problem_.restarts.size() && problem_.restarts[restarted_].t <= end.v + grid.tolerance;
         ++restarted_)
      restart(n + 1, next);
  }

  void restart(std::size_t point, const Duals& before) {
    Duals y(n_, p_);
    y.v = problem_.restarts[restarted_].y;
    for (std::size_t p = 0; p < p_; ++p)
      if (problem_.directions[p].first == -1 - static_cast<int>(restarted_))
        y.d[static_cast<std::size_t>(problem_.directions[p].second) * p_ + p] = 1;
    for (std::size_t i = 0; i < n_; ++i) gaps_.push_back(before.v[i] - y.v[i]);
    for (std::size_t i = 0; i < n_ * p_; ++i) gaps_d_.push_back(before.d[i] - y.d[i]);
    dense_.restart(point, y);
  }

  /// f -> phi(w r) f, where r are the rates that belong to the last slopes.
  void scale_by_rates(double w, const std::vector<double>& wd, Duals& f) {
    for (std::size_t s = 0; s < side_.states.size(); ++s) {
      const int rate = side_.states[s].rate;
      if (rate < 0) continue;
      const auto r = slopes_.values(rate), rd = slopes_.tangents(rate);
      for (std::size_t i = dense_.offset(s), k = 0; i < dense_.offset(s + 1); ++i, ++k) {
        const std::size_t at = r.size() == 1 ? 0 : k;
        const auto [value, slope] = phi(w * r[at]);
        for (std::size_t p = 0; p < p_; ++p)
          f.d[i * p_ + p] = value * f.d[i * p_ + p] + slope * (wd[p] * r[at] + w * rd[at * p_ + p]) * f.v[i];
        f.v[i] *= value;
      }
    }
  }

  [[noreturn]] void fail_at(double t) {
    const int id = slopes_.first_that_is_not_finite();
    std::string what;
    if (id >= 0) {
      const Instruction& v = side_.program.values[id];
      what = std::string(name_of(v));
      if (v.a >= 0) what += text_of(" of ", slopes_.values(v.a)[0]);
      if (v.b >= 0) what += text_of(" and ", slopes_.values(v.b)[0]);
    }
    std::string state;
    for (std::size_t s = 0; s < side_.states.size() && state.empty(); ++s)
      if (!std::isfinite(slopes_.values(side_.states[s].slope)[0]))
        state = side_.program.states[side_.program.values[side_.states[s].value].index].name;
    std::string numbers;
    for (std::size_t w = 0; w < side_.program.weights.size(); ++w)
      if (problem_.weights[w].size() == 1)
        numbers += text_of(numbers.empty() ? " with " : ", ", side_.program.weights[w].name, " = ",
                           problem_.weights[w][0]);
    throw InputError({.item = text_of("d", state)}, Rule::not_finite,
                     text_of("is not finite at t = ", t, numbers, what.empty() ? "" : ": ", what));
  }

  const DelayProblem& problem_;
  const RightSide& side_;
  std::size_t p_;
  DualProgram slopes_, lags_;
  DenseValues dense_;
  std::size_t n_;
  std::vector<char> constant_;
  std::vector<std::pair<int, Leaf>> kinds_;  // of the leaves of slopes_, in order
  Duals past_;
  bool has_switches_ = false;
  std::size_t restarted_ = 0;  // how many restarts there have been so far
  std::vector<double> gaps_, gaps_d_;
};

}  // namespace

Tableau tableau_of(OdeMethod method) {
  if (method == OdeMethod::heun) return {{0, 1}, {0.5, 0.5}};
  if (method == OdeMethod::rk4) return {{0, 0.5, 0.5, 1}, {1. / 6, 1. / 3, 1. / 3, 1. / 6}};
  return {{0}, {1}};
}

int order_of(OdeMethod method) { return method == OdeMethod::rk4 ? 4 : method == OdeMethod::heun ? 2 : 1; }

std::vector<bool> columns_read(const RightSide& side) {
  std::vector<bool> read(static_cast<std::size_t>(side.program.input.width()));
  const auto note = [&](int id, const Instruction* part) {
    if (id < 0 || side.program.values[id].op != StepOp::input) return;
    std::fill_n(read.begin() + (part ? part->index : 0), part ? part->shape.width() : std::ssize(read), true);
  };
  for (const Instruction& v : side.program.values)
    if (!is_leaf(v.op)) note(v.a, v.op == StepOp::slice ? &v : nullptr), note(v.b, nullptr);
  for (const RightSide::State& state : side.states) note(state.slope, nullptr);
  note(side.output, nullptr);
  return read;
}

DelaySolution solve(const DelayProblem& problem, const std::vector<double>& times) {
  return Solver(problem).solve(times);
}

}  // namespace lagtape
