#include "lagtape/tools/exchange/import/onnx_embedding.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace lagtape::foreign {
namespace {

std::optional<double> of_two(const std::string& function, double a, double b) {
  if (function == "+") return a + b;
  if (function == "-") return a - b;
  if (function == "*") return a * b;
  if (function == "/") return a / b;
  if (function == "<") return a < b ? 1 : 0;
  if (function == ">") return a > b ? 1 : 0;
  if (function == "<=") return a <= b ? 1 : 0;
  if (function == ">=") return a >= b ? 1 : 0;
  if (function == "minimum") return std::min(a, b);
  if (function == "maximum") return std::max(a, b);
  return {};
}

std::optional<double> of_one(const std::string& function, double a) {
  if (function == "floor") return std::floor(a);
  if (function == "abs") return std::abs(a);
  if (function == "sign") return a > 0 ? 1 : a < 0 ? -1 : 0;
  if (function == "relu") return std::max(a, 0.0);
  return {};
}

/// The values that a value of one number is computed from, itself among them, in order; empty where it is not computed of
/// the model's input alone, number by number.
std::vector<int> elements_of(const StepGraph& g, int value) {
  std::vector<int> open = {value};
  std::map<int, bool> seen;
  while (!open.empty()) {
    const int top = open.back();
    open.pop_back();
    const StepValue& node = g[top];
    const bool is_number = node.kind == StepKind::constant && node.weight < 0;
    if (node.width != 1 || (node.kind != StepKind::input && node.kind != StepKind::element && !is_number))
      return {};
    if (!seen.emplace(top, true).second) continue;
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  std::vector<int> order;
  for (const auto& [node, is_seen] : seen) order.push_back(node);
  return order;
}

/// The number that a token becomes.
std::optional<double> number_of(const StepGraph& g, const std::vector<int>& elements, double token) {
  std::map<int, double> numbers;
  for (const int element : elements) {
    const StepValue& node = g[element];
    std::optional<double> number = node.kind == StepKind::input ? token : node.number;
    if (node.kind == StepKind::element)
      number = node.inputs.size() == 1 ? of_one(node.function, numbers[node.inputs[0]])
               : node.inputs.size() == 2
                   ? of_two(node.function, numbers[node.inputs[0]], numbers[node.inputs[1]])
                   : std::nullopt;
    if (!number) return {};
    numbers[element] = *number;
  }
  return numbers[elements.back()];
}

}  // namespace

std::vector<OnnxOperand> embedding(const OnnxCall& call) {
  const OnnxTensor& table = call.constant(0);
  const OnnxFlow& flow = call.flow(1);
  StepGraph& g = call.reading.steps;
  if (call.integer("axis", 0) != 0 || table.shape.size() != 2 || table.numel() == 0 ||
      g.width(flow.value) != 1)
    call.refuse("is supported for a matrix and one number at a step.");
  const std::vector<int> elements = elements_of(g, flow.value);
  if (elements.empty() || g[elements.front()].kind != StepKind::input)
    call.refuse("reads rows of a table by numbers that are not the model's tokens.");
  Integers rows;
  for (std::int64_t token = 0; token < table.shape[0]; ++token) {
    const std::optional<double> row = number_of(g, elements, static_cast<double>(token));
    if (!row || !(*row >= 0 && *row < static_cast<double>(table.shape[0])))
      call.refuse("its rows are not those of the tokens 0, 1, ...");
    rows.push_back(static_cast<std::int64_t>(*row));
  }
  const int weight =
      g.weight(call.node.inputs[0] + call.node.inputs[1], [&] { return taken(table, 0, rows).tensor(); });
  OnnxFlow result = flow;
  result.axes.push_back({'C', table.shape[1]});
  result.value = g.add(
      {.kind = StepKind::embedding, .inputs = {elements.front()}, .width = table.shape[1], .weight = weight});
  return call.one(std::move(result));
}

}  // namespace lagtape::foreign
