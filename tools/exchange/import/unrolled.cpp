#include "lagtape/tools/exchange/import/unrolled.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lagtape/core/error.h"

namespace lagtape::foreign {
namespace {

constexpr int kUntried = -1;

/// The last step that each value reads; -1: none.
std::vector<std::int64_t> times_of(const StepGraph& graph) {
  std::vector<std::int64_t> times;
  for (int i = 0; i < graph.size(); ++i) {
    const StepValue& value = graph[i];
    std::int64_t time = value.kind == StepKind::at_step ? value.begin : -1;
    if (value.kind != StepKind::at_step)
      for (const int input : value.inputs) time = std::max(time, times[static_cast<std::size_t>(input)]);
    times.push_back(time);
  }
  return times;
}

/// Whether two values differ at most in their operands.
bool are_alike(StepValue a, StepValue b) {
  const bool same_count = a.inputs.size() == b.inputs.size();
  a.inputs = b.inputs;
  return same_count && a == b;
}

/// How the values of one step are those of the step before.
struct Match {
  std::map<int, int> next;                  ///< of each value of the step the one a step later
  std::vector<std::pair<int, int>> states;  ///< values before the step, and before the step after
};

/// The values that a value of a step computes at that step, itself among them.
std::set<int> values_of_step(const StepGraph& graph, const std::vector<std::int64_t>& times, int value) {
  const std::int64_t time = times[static_cast<std::size_t>(value)];
  std::set<int> values;
  std::vector<int> open = {value};
  while (!open.empty()) {
    const int top = open.back();
    open.pop_back();
    if (times[static_cast<std::size_t>(top)] != time || !values.insert(top).second) continue;
    open.insert(open.end(), graph[top].inputs.begin(), graph[top].inputs.end());
  }
  return values;
}

/// Matches a value at step `time` with one a step later. Values that both steps compute from the step before,
/// such as a product with a state, belong to the step.
bool match(const StepGraph& graph, const std::vector<std::int64_t>& times, std::int64_t time, int a, int b,
           Match& found) {
  const std::set<int> of_step = values_of_step(graph, times, a);
  std::vector<std::pair<int, int>> open = {{a, b}};
  while (!open.empty()) {
    const auto [p, q] = open.back();
    open.pop_back();
    if (const auto known = found.next.find(p); known != found.next.end()) {
      if (known->second != q) return false;
      continue;
    }
    found.next[p] = q;
    const std::int64_t of_p = times[static_cast<std::size_t>(p)], of_q = times[static_cast<std::size_t>(q)];
    if (p == q && of_p < 0) continue;
    const StepValue &first = graph[p], &second = graph[q];
    if (of_p < time && of_q == time && of_step.contains(q)) {
      if (first.width != second.width) return false;
      found.states.emplace_back(p, q);
      continue;
    }
    if (of_p < 0) return false;
    if (first.kind == StepKind::at_step) {
      if (second.kind != StepKind::at_step || first.inputs != second.inputs ||
          first.begin + 1 != second.begin)
        return false;
      continue;
    }
    if (!are_alike(first, second)) return false;
    for (std::size_t i = 0; i < first.inputs.size(); ++i)
      open.emplace_back(first.inputs[i], second.inputs[i]);
  }
  return true;
}

/// A constant out of constants, or a value without zeros that change nothing: what exporters make of a first step.
int simplified(StepGraph& graph, StepValue value) {
  const auto is_constant = [&](int input) { return graph[input].kind == StepKind::constant; };
  const auto is = [&](int input, double number) {
    return is_constant(input) && graph[input].weight < 0 && graph[input].number == number;
  };
  if (value.kind == StepKind::map && is_constant(value.inputs[0])) {
    const Tensor& W = graph.tensor(value.weight);
    const std::vector<double> x = graph.constants(value.inputs[0], W.size(1));
    std::vector<double> y;
    for (std::int64_t r = 0; r < W.size(0); ++r) {
      double sum = value.bias < 0 ? 0 : graph.tensor(value.bias).at(r);
      for (std::int64_t c = 0; c < W.size(1); ++c)
        sum += W.at(r * W.size(1) + c) * x[static_cast<std::size_t>(c)];
      y.push_back(sum);
    }
    return graph.vector(y);
  }
  if (value.kind == StepKind::slice && is_constant(value.inputs[0])) {
    const std::vector<double> all = graph.constants(value.inputs[0], graph.width(value.inputs[0]));
    return graph.vector({all.begin() + value.begin, all.begin() + value.begin + value.width});
  }
  if (value.kind == StepKind::element && value.inputs.size() == 2) {
    const int a = value.inputs[0], b = value.inputs[1];
    const bool sum = value.function == "+", product = value.function == "*";
    if (sum && is(a, 0) && graph.width(b) == value.width) return b;
    if ((sum || value.function == "-") && is(b, 0) && graph.width(a) == value.width) return a;
    if (product && (is(a, 0) || is(b, 0))) return graph.number(0);
  }
  return graph.add(std::move(value));
}

/// Rebuilds a value with some values replaced. `replace` gives the new value, or kUntried to continue with its
/// operands.
template <class Replace>
int rebuilt(StepGraph& graph, int value, std::map<int, int>& made, Replace replace, bool simplifies = false) {
  std::vector<int> open = {value};
  while (!open.empty()) {
    const int top = open.back();
    if (made.contains(top)) {
      open.pop_back();
      continue;
    }
    if (const int instead = replace(top); instead != kUntried) {
      made[top] = instead;
      continue;
    }
    StepValue copy = graph[top];
    bool is_ready = true;
    for (const int input : graph[top].inputs)
      if (!made.contains(input)) {
        open.push_back(input);
        is_ready = false;
      }
    if (!is_ready) continue;
    for (int& input : copy.inputs) input = made.at(input);
    made[top] = simplifies ? simplified(graph, std::move(copy)) : graph.add(std::move(copy));
  }
  return made.at(value);
}

/// Finds the constants of step 0 that replace the states of step 1. `a` is a value of step 1, `b` of step 0.
bool find_first(const StepGraph& graph, const std::map<int, std::size_t>& states, int a, int b,
                std::vector<int>& first) {
  std::vector<std::pair<int, int>> open = {{a, b}};
  std::map<int, int> seen;
  while (!open.empty()) {
    const auto [p, q] = open.back();
    open.pop_back();
    if (const auto [place, is_new] = seen.emplace(p, q); !is_new) {
      if (place->second == q || graph[q].kind == StepKind::constant) continue;
      return false;
    }
    if (const auto state = states.find(p); state != states.end()) {
      if (graph[q].kind != StepKind::constant) return false;
      int& known = first[state->second];
      const std::int64_t width = graph.width(p);
      if (graph.width(q) != 1 && graph.width(q) != width) return false;
      if (known != kUntried && graph.constants(known, width) != graph.constants(q, width)) return false;
      if (known == kUntried || graph.width(q) == width) known = q;
      continue;
    }
    if (p == q) continue;
    const StepValue &x = graph[p], &y = graph[q];
    if (x.kind == StepKind::at_step) {
      if (y.kind != StepKind::at_step || x.inputs != y.inputs || y.begin + 1 != x.begin) return false;
      continue;
    }
    if (!are_alike(x, y)) return false;
    for (std::size_t i = 0; i < x.inputs.size(); ++i) open.emplace_back(x.inputs[i], y.inputs[i]);
  }
  return true;
}

/// Whether the values of step 0 are those of step 1 with states of zero, of which exporters leave out what is zero.
bool begins_with_zeros(StepGraph& graph, const std::map<int, std::size_t>& states,
                       const std::vector<std::pair<int, int>>& steps) {
  std::map<int, int> with_zeros, as_it_is;
  const auto is_leaf = [&](int value) {
    return graph[value].inputs.empty() || graph[value].kind == StepKind::at_step;
  };
  return std::ranges::all_of(steps, [&](const auto& step) {
    const int expected = rebuilt(
        graph, step.first, with_zeros,
        [&](int value) {
          if (states.contains(value)) return graph.number(0);
          if (graph[value].kind != StepKind::at_step) return is_leaf(value) ? value : kUntried;
          StepValue first = graph[value];
          first.begin = 0;
          return graph.add(std::move(first));
        },
        true);
    return expected == rebuilt(
                           graph, step.second, as_it_is,
                           [&](int value) { return is_leaf(value) ? value : kUntried; }, true);
  });
}

bool is_of_no_step(const std::vector<std::int64_t>& times, int value) {
  return value < std::ssize(times) && times[static_cast<std::size_t>(value)] < 0;
}

/// Whether step 1 with the states and inputs of each later step computes that step's value.
bool is_every_step(StepGraph& graph, const std::vector<std::int64_t>& times, const std::vector<int>& values,
                   const Match& found, const std::map<int, std::size_t>& states) {
  std::vector<int> now;
  for (const auto& [before, after] : found.states) now.push_back(before);
  for (std::size_t t = 1; t < values.size(); ++t) {
    std::map<int, int> made;
    const auto at_step = [&](int value) {
      return rebuilt(graph, value, made, [&](int other) {
        if (const auto state = states.find(other); state != states.end()) return now[state->second];
        if (graph[other].kind != StepKind::at_step) return is_of_no_step(times, other) ? other : kUntried;
        StepValue step = graph[other];
        step.begin = static_cast<std::int64_t>(t);
        return graph.add(std::move(step));
      });
    };
    if (at_step(values[1]) != values[t]) return false;
    std::vector<int> next;
    for (const auto& [before, after] : found.states) next.push_back(at_step(after));
    now = std::move(next);
  }
  return true;
}

/// The values at all steps up to `last`, which is the one at step `time`; empty where they are not found.
std::vector<int> steps_before(const StepGraph& graph, const std::vector<std::int64_t>& times, int before,
                              int last, std::int64_t time) {
  std::vector<int> values = {last, before};
  while (time > 1) {
    --time;
    Match found;
    if (!match(graph, times, time, values[values.size() - 1], values[values.size() - 2], found)) return {};
    const int newest = values.back();
    const auto state = std::ranges::find(found.states, newest, &std::pair<int, int>::second);
    if (state == found.states.end()) return {};
    values.push_back(state->first);
  }
  std::ranges::reverse(values);
  return values;
}

/// Replaces a value at the last step by the output of a cell, where one is found in it.
bool replace_last(StepGraph& graph, int& value) {
  const std::vector<std::int64_t> times = times_of(graph);
  const std::int64_t last = times[static_cast<std::size_t>(value)];
  if (last < 2) return false;
  const std::set<int> at_last = values_of_step(graph, times, value);
  std::set<int> at_before;
  for (const int node : at_last)
    for (const int input : graph[node].inputs)
      if (times[static_cast<std::size_t>(input)] == last - 1)
        at_before.merge(values_of_step(graph, times, input));
  // The newest first: a state is computed after its parts.
  const std::vector<int> body(at_last.rbegin(), at_last.rend()), before(at_before.rbegin(), at_before.rend());
  for (const int node : body)
    for (const int earlier : before) {
      Match found;
      if (!are_alike(graph[node], graph[earlier]) || !match(graph, times, last - 1, earlier, node, found))
        continue;
      const std::vector<int> values = steps_before(graph, times, earlier, node, last);
      if (std::ssize(values) != last + 1) continue;
      const std::optional<int> cell = cell_of_steps(graph, values);
      if (!cell) continue;
      std::map<int, int> made = {{node, *cell}};
      value = rebuilt(graph, value, made,
                      [&](int other) { return graph[other].inputs.empty() ? other : kUntried; });
      return true;
    }
  return false;
}

}  // namespace

std::optional<int> cell_of_steps(StepGraph& graph, const std::vector<int>& values) {
  const std::vector<std::int64_t> times = times_of(graph);
  for (std::size_t t = 0; t < values.size(); ++t)
    if (times[static_cast<std::size_t>(values[t])] != static_cast<std::int64_t>(t)) return {};
  Match found;
  if (values.size() < 3 || !match(graph, times, 1, values[1], values[2], found)) return {};
  std::map<int, std::size_t> states;
  std::vector<int> first(found.states.size(), kUntried);
  for (const auto& [before, after] : found.states) {
    states.emplace(before, states.size());
    if (!found.next.contains(after) || times[static_cast<std::size_t>(before)] != 0) return {};
  }
  std::vector<std::pair<int, int>> steps = {{values[1], values[0]}};  // at step 1, and at step 0
  for (const auto& [before, after] : found.states) steps.emplace_back(after, before);
  const bool is_given = std::ranges::all_of(
      steps, [&](const auto& step) { return find_first(graph, states, step.first, step.second, first); });
  if (!is_given) {
    if (!begins_with_zeros(graph, states, steps)) return {};
    std::ranges::fill(first, graph.number(0));
  }
  const auto number = static_cast<std::int64_t>(graph.first_states.size());
  std::map<int, int> body;
  const auto of_body = [&](int value) {
    return rebuilt(graph, value, body, [&](int other) {
      if (const auto state = states.find(other); state != states.end())
        return graph.add({.kind = StepKind::state,
                          .width = graph.width(other),
                          .begin = static_cast<std::int64_t>(state->second),
                          .number = static_cast<double>(number)});
      if (graph[other].kind == StepKind::at_step) return graph[other].inputs[0];
      return is_of_no_step(times, other) ? other : kUntried;
    });
  };
  StepValue result{.kind = StepKind::cell, .width = graph.width(values[1]), .begin = number};
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == kUntried) return {};
    const StepValue& constant = graph[first[i]];
    first[i] = graph.add({.kind = StepKind::constant,
                          .width = graph.width(found.states[i].first),
                          .weight = constant.weight,
                          .number = constant.number});
    result.inputs.push_back(of_body(found.states[i].second));
  }
  result.inputs.push_back(of_body(values[1]));
  if (!is_every_step(graph, times, values, found, states)) return {};
  graph.first_states.push_back(std::move(first));
  return graph.add(std::move(result));
}

int rolled(StepGraph& graph, int value, const std::string& where) {
  while (replace_last(graph, value)) {
  }
  const bool both = std::ranges::any_of(graph.recurrences, [](const ForeignLayer& layer) {
    return std::get<ForeignRecurrence>(layer.content).directions.size() > 1;
  });
  std::map<int, int> made;
  const auto kept = [&](int other) { return graph[other].inputs.empty() ? other : kUntried; };
  std::vector<bool> needed(static_cast<std::size_t>(value) + 1, false);
  needed.back() = true;
  for (int i = value; i >= 0; --i)
    if (needed[static_cast<std::size_t>(i)])
      for (const int input : graph[i].inputs) needed[static_cast<std::size_t>(input)] = true;
  for (int i = 0; i <= value; ++i) {
    const StepValue node = graph[i];
    if (!needed[static_cast<std::size_t>(i)] || node.kind != StepKind::at_step) continue;
    const bool is_last = node.begin < 0 || node.begin + 1 == static_cast<std::int64_t>(node.number);
    if (!is_last && node.begin != 0)
      throw InputError(
          {where}, Rule::not_supported,
          text_of("the value of step ", node.begin, " of ", node.number,
                  " is taken alone. Supported: the first and the last step, and steps that are all alike."));
    const int input = rebuilt(graph, node.inputs[0], made, kept);
    // A read-out of the last step reads a bidirectional layer at both ends, unless a state is in between.
    made[i] = is_last && !both ? input
                               : graph.add({.kind = StepKind::over_time,
                                            .function = is_last ? "last" : "first",
                                            .inputs = {input},
                                            .width = node.width});
  }
  return rebuilt(graph, value, made, kept);
}

}  // namespace lagtape::foreign
