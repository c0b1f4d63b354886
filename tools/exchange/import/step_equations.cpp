#include "lagtape/tools/exchange/import/step_equations.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "lagtape/core/error.h"
#include "lagtape/core/text.h"

namespace lagtape::foreign {
namespace {

/// Longer expressions get a name.
constexpr std::size_t kLongestExpression = 90;

/// A number as the shortest text that reads back to it, and what else there is as it is.
template <class T>
std::string written_out(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    std::array<char, 32> digits;
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
  } else {
    return text_of(value);
  }
}

/// The pattern with the parts in place of its {}.
template <class... Parts>
std::string filled(std::string_view pattern, const Parts&... parts) {
  std::string text;
  const auto put = [&](const std::string& part) {
    const std::size_t place = pattern.find("{}");
    text.append(pattern.substr(0, place)).append(part);
    pattern.remove_prefix(place + 2);
  };
  (put(written_out(parts)), ...);
  return text.append(pattern);
}

/// Writes equations. A value of one number is a scalar in them, others are vectors; every text is a name, a call, a number
/// or in parentheses.
class EquationWriter {
 public:
  EquationWriter(const StepGraph& graph, const std::vector<int>& nodes, const StepLayout& layout,
                 std::int64_t width, const std::vector<int>& targets)
      : graph_(graph), input_(width) {
    for (const auto& [value, pieces] : layout) texts_[value] = of_layout(value, pieces);
    const auto use = [&](int value) { ++uses_[value]; };
    for (const int node : nodes) std::ranges::for_each(graph[node].inputs, use);
    std::ranges::for_each(targets, use);
    for (const int node : nodes)
      if (graph[node].kind == StepKind::cell) note_cell(graph[node]);
  }

  ForeignEntry written(const std::vector<int>& nodes, const std::vector<int>& targets,
                       const std::string& name) {
    for (const int node : nodes) write(node);
    Json outputs = Json::array();
    std::int64_t width = 0;
    for (const int target : targets) {
      const std::string output = text(target);
      outputs.push_back(step_.empty() ? named("y", output) : output);  // a cell has an equation
      width += graph_.width(target);
    }
    if (targets.size() == 1 && width > 1) outputs = Json(outputs[0]);
    if (targets.size() == 1 && width == 1)  // a scalar as a vector
      outputs =
          filled("slice(concat({}, {}), 0, 1)", outputs[0].get<std::string>(), outputs[0].get<std::string>());
    entry_.layer = {{"cell", name}, {"units", width}};
    entry_.cell = name;
    entry_.equations = {{"weights", weights_}, {"state", states_}, {"step", step_}, {"output", outputs}};
    entry_.input = input_;
    entry_.width = width;
    return std::move(entry_);
  }

 private:
  std::string of_layout(int value, const std::vector<std::pair<std::int64_t, std::int64_t>>& pieces) const {
    std::string text;
    for (const auto& [begin, count] : pieces) {
      const bool whole = begin == 0 && count == input_;
      text += text.empty() ? "" : ", ";
      text += whole ? "x" : filled("slice(x, {}, {})", begin, begin + count);
    }
    if (pieces.size() > 1) return "concat(" + text + ")";
    return graph_.width(value) == 1 ? "sum(" + text + ")" : text;
  }

  Json shape_of(std::int64_t width) const { return width == 1 ? Json::array() : Json::array({width}); }

  /// The name of a weight, which becomes one of the cell's.
  std::string weight(int index, const std::string& stem, const Json& shape) {
    const auto [place, is_new] = names_.emplace(std::pair(index, shape.dump()), "");
    if (!is_new) return place->second;
    const std::string name = place->second = stem + std::to_string(names_.size());
    Shape extents;
    for (const Json& extent : shape) extents.push_back(extent.get<std::int64_t>());
    weights_[name] = shape;
    entry_.values[name] = graph_.tensor(index).reshaped(extents);
    return name;
  }

  std::string text(int value) {
    if (const auto found = texts_.find(value); found != texts_.end()) return found->second;
    const StepValue& constant = graph_[value];
    if (constant.kind != StepKind::constant) throw Error("[import] a value of another layer");
    if (constant.weight >= 0) return weight(constant.weight, "k", shape_of(constant.width));
    return constant.number < 0 ? filled("(-{})", -constant.number) : filled("{}", constant.number);
  }

  std::string name_of(int value) const { return "v" + std::to_string(value); }

  /// Notes the text of a value, which gets a name where it is used again or is long.
  void give(int value, const std::string& written) {
    if (uses_[value] <= 1 && written.size() < kLongestExpression) {
      texts_[value] = written;
    } else {
      texts_[value] = named(name_of(value), written);
    }
  }

  std::string named(const std::string& name, std::string written) {
    if (written.starts_with('(') && written.find(')') == written.size() - 1)
      written = written.substr(1, written.size() - 2);
    step_.push_back(name + " = " + written);
    return name;
  }

  std::string state(std::int64_t width) {
    const std::string name = "s" + std::to_string(states_.size());
    states_[name] = shape_of(width);
    entry_.states.push_back(width);
    return name;
  }

  std::string map(const StepValue& value) {
    const Tensor& W = graph_.tensor(value.weight);
    const std::string a = text(value.inputs[0]);
    const bool one_in = W.size(1) == 1, one_out = W.size(0) == 1;
    const std::string name = weight(
        value.weight, "W", one_in || one_out ? shape_of(W.numel()) : Json::array({W.size(0), W.size(1)}));
    std::string product = one_in    ? filled("{} * {}", name, a)
                          : one_out ? filled("sum({} * {})", name, a)
                                    : filled("{} @ {}", name, a);
    if (value.bias >= 0) product += " + " + weight(value.bias, "b", shape_of(W.size(0)));
    return "(" + product + ")";
  }

  std::string element(const StepValue& value) {
    const std::string a = text(value.inputs[0]);
    if (value.inputs.size() == 1) return filled("{}({})", value.function, a);
    const std::string b = text(value.inputs[1]);
    if (value.inputs.size() == 3)
      return filled("{}({}, {}, {})", value.function, a, b, text(value.inputs[2]));
    const bool is_sign = std::string("+ - * / < > <= >=").find(value.function) != std::string::npos;
    return is_sign ? filled("({} {} {})", a, value.function, b) : filled("{}({}, {})", value.function, a, b);
  }

  std::string concat(const StepValue& value) {
    std::string parts;
    for (const int part : value.inputs) parts += (parts.empty() ? "" : ", ") + text(part);
    return "concat(" + parts + ")";
  }

  std::string layer_norm(int node, const StepValue& value) {
    const std::string a = named(name_of(node) + "_input", text(value.inputs[0]));
    const std::string centered = named(name_of(node) + "_centered", filled("{} - mean({})", a, a));
    return filled("({} / sqrt(mean({} * {}) + {}) * {} + {})", centered, centered, centered, value.number,
                  weight(value.weight, "k", shape_of(value.width)),
                  weight(value.bias, "k", shape_of(value.width)));
  }

  std::string over_time(const StepValue& value) {
    const std::string a = named("a" + std::to_string(states_.size()), text(value.inputs[0]));
    const std::string s = state(value.width), &f = value.function;
    step_.push_back(s + "' = " +
                    (f == "first"                ? filled("where(n < 1, {}, {})", a, s)
                     : f == "last"               ? a
                     : f == "sum" || f == "mean" ? filled("{} + {}", s, a)
                                                 : filled("where(n < 1, {}, {}({}, {}))", a, f, s, a)));
    return f == "mean" ? filled("({}' / (n + 1))", s) : s + "'";
  }

  /// Names the states of a cell, and says what they are before its first step.
  void note_cell(const StepValue& value) {
    for (const int first : graph_.first_states[static_cast<std::size_t>(value.begin)]) {
      cell_states_[value.begin].push_back(state(graph_.width(first)));
      first_[cell_states_[value.begin].back()] = first;
    }
  }

  /// The state number `begin` of the cell `number`.
  std::string state_before(const StepValue& value) {
    const std::string& name =
        cell_states_.at(static_cast<std::int64_t>(value.number))[static_cast<std::size_t>(value.begin)];
    const int first = first_.at(name);
    const bool zero = graph_[first].weight < 0 && graph_[first].number == 0;
    return zero ? name : filled("where(n < 1, {}, {})", text(first), name);
  }

  std::string cell(const StepValue& value) {
    const std::vector<std::string>& names = cell_states_[value.begin];
    for (std::size_t i = 0; i < names.size(); ++i) step_.push_back(names[i] + "' = " + text(value.inputs[i]));
    return text(value.inputs.back());
  }

  void write(int node) {
    const StepValue& value = graph_[node];
    switch (value.kind) {
      case StepKind::map: return give(node, map(value));
      case StepKind::element: return give(node, element(value));
      case StepKind::sum:
        return give(node, graph_.width(value.inputs[0]) == 1 ? text(value.inputs[0])
                                                             : filled("sum({})", text(value.inputs[0])));
      case StepKind::concat: return give(node, concat(value));
      case StepKind::slice: {
        const std::string part =
            filled("slice({}, {}, {})", text(value.inputs[0]), value.begin, value.begin + value.width);
        return give(node, value.width == 1 ? "sum(" + part + ")" : part);
      }
      case StepKind::layer_norm: return give(node, layer_norm(node, value));
      case StepKind::over_time: return give(node, over_time(value));
      case StepKind::state: return give(node, state_before(value));
      case StepKind::cell: return give(node, cell(value));
      default: throw Error("[import] a value that is no equation");
    }
  }

  const StepGraph& graph_;
  std::int64_t input_;
  ForeignEntry entry_;
  std::map<int, std::string> texts_;
  std::map<int, int> uses_;
  std::map<std::pair<int, std::string>, std::string> names_;
  std::map<std::int64_t, std::vector<std::string>> cell_states_;
  std::map<std::string, int> first_;
  Json weights_ = Json::object(), states_ = Json::object(), step_ = Json::array();
};

}  // namespace

ForeignEntry equation_layer(const StepGraph& graph, const std::vector<int>& nodes, const StepLayout& layout,
                            std::int64_t width, const std::vector<int>& targets, const std::string& name) {
  return EquationWriter(graph, nodes, layout, width, targets).written(nodes, targets, name);
}

}  // namespace lagtape::foreign
