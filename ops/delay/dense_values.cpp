#include "lagtape/ops/delay/dense_values.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/delay/observed_history.h"

namespace lagtape {

std::vector<int> roots_of_histories(const RightSide& side) {
  std::vector<int> roots;
  for (const RightSide::State& state : side.states) {
    roots.push_back(state.history);
    if (state.history_slope >= 0) roots.push_back(state.history_slope);
  }
  return roots;
}

/// Factors of the values y0, y1 and of the slopes w f0, w f1 at the ends of a step, at fraction u of it; and
/// their first two derivatives with respect to u.
struct DenseValues::Basis {
  Basis(double u, bool hermite) {
    if (!hermite) {
      value = {1 - u, u, 0, 0}, first = {-1, 1, 0, 0};
      return;
    }
    const double v = 1 - u;
    value = {(1 + 2 * u) * v * v, u * u * (3 - 2 * u), u * v * v, -u * u * v};
    first = {-6 * u * v, 6 * u * v, v * (1 - 3 * u), u * (3 * u - 2)};
    second = {12 * u - 6, 6 - 12 * u, 6 * u - 4, 6 * u - 2};
  }
  std::array<double, 4> value = {}, first = {}, second = {};
};

DenseValues::DenseValues(const RightSide& side, const DelayProblem& problem)
    : side_(side),
      p_(problem.directions.size()),
      hermite_(problem.solver.hermite),
      offsets_{0},
      history_(side, roots_of_histories(side), problem.weights, problem.directions),
      observed_(problem.observed) {
  for (const ObservedHistory& readings : observed_)
    observed_slopes_.push_back(readings.times.empty() ? std::vector<double>() : slopes_of(readings));
  for (const RightSide::State& state : side.states)
    offsets_.push_back(offsets_.back() +
                       static_cast<std::size_t>(side.program.values[state.value].shape.width()));
}

void DenseValues::begin(MovingGrid grid) {
  grid_ = std::move(grid);
  const std::size_t points = grid_.points.size();
  y_ = after_ = before_ = Duals(points * width(), p_);
  has_before_.assign(points, 0);
  Duals first(width(), p_);
  read_history({0, std::vector<double>(p_)}, {.count = width()}, first);
  set_state(0, first);
}

Duals DenseValues::state(std::size_t point) const {
  Duals y(width(), p_);
  std::copy_n(&y_.v[point * width()], width(), y.v.begin());
  std::copy_n(y_.d.data() + point * width() * p_, width() * p_, y.d.begin());
  return y;
}

void DenseValues::store(Duals& all, std::size_t point, const Duals& one) const {
  std::ranges::copy(one.v, all.v.begin() + static_cast<std::ptrdiff_t>(point * width()));
  std::ranges::copy(one.d, all.d.begin() + static_cast<std::ptrdiff_t>(point * width() * p_));
}

void DenseValues::restart(std::size_t point, const Duals& y) {
  until_restart_[point] = state(point);
  set_state(point, y);
}

const double* DenseValues::left_values(std::size_t point) const {
  if (!until_restart_.empty())
    if (const auto found = until_restart_.find(point); found != until_restart_.end())
      return found->second.v.data();
  return &y_.v[point * width()];
}

const double* DenseValues::left_tangents(std::size_t point) const {
  if (!until_restart_.empty())
    if (const auto found = until_restart_.find(point); found != until_restart_.end())
      return found->second.d.data();
  return y_.d.data() + point * width() * p_;
}

void DenseValues::set_slope(std::size_t point, const Duals& f) {
  store(after_, point, f);
  if (!has_before_[point]) store(before_, point, f);
}

void DenseValues::set_slope_before(std::size_t point, const Duals& f) {
  store(before_, point, f);
  has_before_[point] = 1;
}

std::ptrdiff_t DenseValues::step_at(double s, const DenseRead& what) const {
  const double tolerance = grid_.tolerance;
  const bool at_begin = std::abs(s) <= tolerance;
  if (s < -tolerance || (at_begin && what.from != DenseRead::From::right)) return -1;
  const auto& points = grid_.points;
  // The last point not after s.
  const auto after =
      std::ranges::upper_bound(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(what.last) + 1,
                               s + tolerance, {}, [](const auto& point) { return point.t.v; });
  const std::ptrdiff_t k = after - points.begin() - 1;
  const bool from_left = what.from == DenseRead::From::left && std::abs(s - points[k].t.v) <= tolerance;
  return std::max<std::ptrdiff_t>(0, from_left || k == static_cast<std::ptrdiff_t>(what.last) ? k - 1 : k);
}

void DenseValues::read_history(const Dual& s, const DenseRead& what, Duals& out) {
  const double side = what.from == DenseRead::From::left    ? -2 * grid_.tolerance
                      : what.from == DenseRead::From::right ? 2 * grid_.tolerance
                                                            : 0;
  history_.run([&](int id, bool tangents) {
    if (tangents)
      std::ranges::copy(s.d, history_.tangents(id).begin());
    else
      history_.values(id)[0] = s.v + (has_jumps_ ? side : 0);
  });
  for (std::size_t state = 0, i = 0; state < side_.states.size(); ++state) {
    const int id = what.slope ? side_.states[state].history_slope : side_.states[state].history;
    for (std::size_t k = offsets_[state]; k < offsets_[state + 1]; ++k) {
      if (k < what.first || k >= what.first + what.count) continue;
      if (is_observed(state)) {
        read_observed(state, s, what.slope, i++, out);
        continue;
      }
      const std::size_t at = id < 0 || history_.values(id).size() == 1 ? 0 : k - offsets_[state];
      out.v[i] = id < 0 ? 0 : history_.values(id)[at];
      for (std::size_t p = 0; p < p_; ++p)
        out.d[i * p_ + p] = id < 0 ? 0 : history_.tangents(id)[at * p_ + p];
      ++i;
    }
  }
}

void DenseValues::read_observed(std::size_t state, const Dual& s, bool slope, std::size_t i,
                                Duals& out) const {
  const ObservedHistory& readings = observed_[state];
  if (s.v < readings.times.front() - grid_.tolerance) {
    const int number = side_.program.values[side_.states[state].value].index;
    throw InputError(
        {.item = text_of("history of '", side_.program.states[number].name, "'")}, Rule::missing,
        text_of("the readings begin at t = ", readings.times.front(), ", and one before them is read"),
        text_of("t = ", s.v), "Give earlier ones, a lag a smaller \"max\", or in a fit a later \"begin\".");
  }
  const std::array<double, 3> at = lagtape::read_history(readings, observed_slopes_[state], s.v);
  out.v[i] = at[slope ? 1 : 0];
  for (std::size_t p = 0; p < p_; ++p) out.d[i * p_ + p] = at[slope ? 2 : 1] * s.d[p];
}

void DenseValues::read_values(double s, const DenseRead& what, std::vector<double>& out) {
  const std::ptrdiff_t k = step_at(s, what);
  if (k < 0) {
    Duals both(out.size(), p_);
    read_history({s, std::vector<double>(p_)}, what, both);
    out = std::move(both.v);
    return;
  }
  const double begin = grid_.points[k].t.v, w = grid_.points[k + 1].t.v - begin;
  const Basis basis((s - begin) / w, hermite_);
  const std::array<double, 4>& c = what.slope ? basis.first : basis.value;
  const std::size_t row = static_cast<std::size_t>(k) * width() + what.first, next = row + width();
  const double* y1 = left_values(static_cast<std::size_t>(k) + 1) + what.first;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double value =
        c[0] * y_.v[row + i] + c[1] * y1[i] + w * (c[2] * after_.v[row + i] + c[3] * before_.v[next + i]);
    out[i] = what.slope ? value / w : value;
  }
}

void DenseValues::read(const Dual& s, const DenseRead& what, Duals& out) {
  const std::ptrdiff_t k = step_at(s.v, what);
  if (k < 0) return read_history(s, what, out);
  const Dual &begin = grid_.points[k].t, &end = grid_.points[k + 1].t;
  const double w = end.v - begin.v, u = (s.v - begin.v) / w;
  std::vector<double> wd(p_), ud(p_);
  for (std::size_t p = 0; p < p_; ++p) {
    wd[p] = end.d[p] - begin.d[p];
    ud[p] = (s.d[p] - begin.d[p] - u * wd[p]) / w;
  }
  const Basis basis(u, hermite_);
  const std::array<double, 4>&c = what.slope ? basis.first : basis.value,
                           &by_u = what.slope ? basis.second : basis.first;
  const std::size_t row = static_cast<std::size_t>(k) * width() + what.first, next = row + width();
  const double* left = left_values(static_cast<std::size_t>(k) + 1) + what.first;
  const double* left_d = left_tangents(static_cast<std::size_t>(k) + 1) + what.first * p_;
  for (std::size_t i = 0; i < out.v.size(); ++i) {
    const double y0 = y_.v[row + i], y1 = left[i], f0 = after_.v[row + i], f1 = before_.v[next + i];
    const double slopes = c[2] * f0 + c[3] * f1, value = c[0] * y0 + c[1] * y1 + w * slopes;
    const double along = by_u[0] * y0 + by_u[1] * y1 + w * (by_u[2] * f0 + by_u[3] * f1);
    out.v[i] = what.slope ? value / w : value;
    for (std::size_t p = 0; p < p_; ++p) {
      const std::size_t a = (row + i) * p_ + p, b = (next + i) * p_ + p;
      const double d = c[0] * y_.d[a] + c[1] * left_d[i * p_ + p] +
                       w * (c[2] * after_.d[a] + c[3] * before_.d[b]) + wd[p] * slopes + ud[p] * along;
      out.d[i * p_ + p] = what.slope ? (d - wd[p] * out.v[i]) / w : d;
    }
  }
}

}  // namespace lagtape
