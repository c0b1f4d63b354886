#include "lagtape/ops/delay/switches.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/delay/dual_program.h"

namespace lagtape {
namespace {

constexpr double kMostSwitches = 1 << 20;

/// Branches change where a - b, or just a, passes zero or, for floor, a whole number.
struct Switch {
  int a = -1, b = -1;
  bool whole_numbers = false;
};

/// For each value: whether it depends on the time, and on nothing else that changes.
std::vector<bool> values_of_time(const StepProgram& program, int time) {
  const std::vector<bool> constant = constant_values(program);
  std::vector<bool> all(program.values.size());
  for (int id = 0; id < static_cast<int>(all.size()); ++id) {
    const Instruction& v = program.values[id];
    const auto known = [&](int operand) { return operand < 0 || constant[operand] || all[operand]; };
    all[id] = id == time || (!is_leaf(v.op) && !constant[id] && known(v.a) && known(v.b));
  }
  return all;
}

std::vector<Switch> switches_of(const RightSide& side, const std::vector<int>& roots, int time) {
  const std::vector<bool> needed = needed_values(side, roots, false),
                          of_time = values_of_time(side.program, time);
  std::vector<Switch> switches;
  for (std::size_t id = 0; id < needed.size(); ++id) {
    const Instruction& v = side.program.values[id];
    if (!needed[id] || !of_time[id] || v.op != StepOp::element) continue;
    switch (v.element) {
      case ElementOp::relu:
      case ElementOp::sign:
      case ElementOp::abs: switches.push_back({v.a}); break;
      case ElementOp::floor: switches.push_back({v.a, -1, true}); break;
      case ElementOp::minimum:
      case ElementOp::maximum: switches.push_back({v.a, v.b}); break;
      default: break;
    }
  }
  return switches;
}

class SwitchFinder {
 public:
  SwitchFinder(const DelayProblem& problem, const std::vector<int>& operands)
      : directions_(problem.directions.size()),
        values_(problem.side, operands, problem.weights, {}),
        slopes_(problem.side, operands, problem.weights, with_time(problem.directions)) {}

  void find(const Switch& of, const SearchRange& range, std::vector<Dual>& found) {
    const auto steps = static_cast<std::int64_t>(std::ceil((range.to - range.from) / range.step - 1e-9));
    std::vector<double> before = gaps(of, range.from);
    double begin = range.from;
    for (std::int64_t k = 1; k <= steps; ++k) {
      const double end = std::min(range.to, range.from + static_cast<double>(k) * range.step);
      std::vector<double> after = gaps(of, end);
      for (std::size_t i = 0; i < after.size(); ++i) {
        double level = 0, last = 0;
        if (of.whole_numbers) {
          level = std::floor(std::min(before[i], after[i])) + 1;
          last = std::floor(std::max(before[i], after[i]));
          if (last - level >= kMostSwitches - static_cast<double>(found.size()))
            throw InputError({.item = "breaks"}, Rule::no_memory,
                             "the equations jump too often for a step to end at each jump of floor", {},
                             "Set \"breaks\": \"ignore\".");
        }
        for (; level <= last; ++level)
          if (is_beyond(before[i], level, of) != is_beyond(after[i], level, of))
            add(of, i, level, {begin, end, range.step}, found);
      }
      before = std::move(after);
      begin = end;
    }
  }

 private:
  static std::vector<std::pair<int, std::int64_t>> with_time(
      std::vector<std::pair<int, std::int64_t>> directions) {
    directions.emplace_back(-1, 0);
    return directions;
  }
  static bool is_beyond(double gap, double level, const Switch& of) {
    return of.whole_numbers ? gap >= level : gap > level;
  }

  static DualProgram::Leaf at(DualProgram& program, double t) {
    return [&program, t](int id, bool tangents) {
      if (tangents)
        program.tangents(id).back() = 1;
      else
        program.values(id)[0] = t;
    };
  }

  std::vector<double> gaps(const Switch& of, double t) {
    values_.run(at(values_, t));
    const auto a = values_.values(of.a);
    std::vector<double> all(a.begin(), a.end());
    if (of.b < 0) return all;
    const auto b = values_.values(of.b);
    all.resize(std::max(a.size(), b.size()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = a[a.size() == 1 ? 0 : i] - b[b.size() == 1 ? 0 : i];
    return all;
  }

  /// The derivatives of a gap with respect to the directions and, last, the time.
  std::vector<double> slopes(const Switch& of, std::size_t i, double t) {
    slopes_.run(at(slopes_, t));
    const std::size_t p = directions_ + 1;
    std::vector<double> all(p);
    for (const auto& [operand, sign] : {std::pair(of.a, 1), std::pair(of.b, -1)}) {
      if (operand < 0) continue;
      const auto d = slopes_.tangents(operand);
      const std::size_t row = d.size() == p ? 0 : i;
      for (std::size_t k = 0; k < p; ++k) all[k] += sign * d[row * p + k];
    }
    return all;
  }

  void add(const Switch& of, std::size_t i, double level, const SearchRange& within,
           std::vector<Dual>& found) {
    double low = within.from, high = within.to;
    const bool first = is_beyond(gaps(of, low)[i], level, of);
    for (int k = 0; k < 200; ++k) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (is_beyond(gaps(of, middle)[i], level, of) == first ? low : high) = middle;
    }
    // A gap that is itself a branch may be flat on one side; if it jumps, its own switch has already been
    // found.
    std::vector<double> d = slopes(of, i, low - 1e-9 * within.step),
                        other = slopes(of, i, high + 1e-9 * within.step);
    if (std::abs(other.back()) > std::abs(d.back())) d = std::move(other);
    if (d.back() == 0) return;
    Dual t{high, std::vector<double>(directions_)};
    for (std::size_t p = 0; p < directions_; ++p) t.d[p] = -d[p] / d.back();
    found.push_back(std::move(t));
  }

  std::size_t directions_;
  DualProgram values_, slopes_;
};

}  // namespace

std::vector<Dual> switch_times(const DelayProblem& problem, const std::vector<int>& roots, int time,
                               const SearchRange& range) {
  std::vector<Dual> found;
  if (time < 0) return found;
  const std::vector<Switch> switches = switches_of(problem.side, roots, time);
  if (switches.empty()) return found;
  std::vector<int> operands;
  for (const Switch& one : switches)
    for (const int operand : {one.a, one.b})
      if (operand >= 0) operands.push_back(operand);
  SwitchFinder finder(problem, operands);
  for (const Switch& one : switches) finder.find(one, range, found);
  return found;
}

}  // namespace lagtape
