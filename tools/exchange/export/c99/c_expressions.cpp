#include "lagtape/tools/exchange/export/c99/c_expressions.h"

#include <algorithm>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/ops/kernels/element_functions.h"
#include "lagtape/ops/recurrence/step/gradient_paths.h"
#include "lagtape/tools/exchange/export/c99/c_helpers.h"
#include "lagtape/tools/exchange/export/fixed_values.h"

namespace lagtape {
namespace {

constexpr int kDeepest = 5;  // operations within one another on a line

std::string in_parentheses(const CExpression& e, int strength) {
  return e.strength >= strength ? e.text : text_of("(", e.text, ")");
}

std::string plus(const std::string& index, std::int64_t offset) {
  return offset == 0 ? index : text_of(index, " + ", offset);
}

/// An index as an operand of a product.
std::string factor_of(const std::string& index) {
  return index.find(' ') == std::string::npos ? index : text_of("(", index, ")");
}

std::string times(std::int64_t factor, const std::string& index) {
  return index == "0" || factor == 1 ? index : text_of(factor, " * ", factor_of(index));
}

CExpression sum_or_product(const std::string& sign, int strength, const CExpression& a,
                           const CExpression& b) {
  return {text_of(in_parentheses(a, strength), " ", sign, " ", in_parentheses(b, strength + 1)), strength,
          std::max(a.depth, b.depth) + 1};
}

/// The name of a past value of a state: "h" now, "h_10" ten steps before.
std::string name_of_past(const std::string& state, std::int64_t lag) {
  return lag == 0 ? state : text_of(state, "_", lag);
}

}  // namespace

CExpressions::CExpressions(const ExportedLayer& layer, const CStyle& style)
    : layer_(layer),
      style_(style),
      fixed_(fixed_values(layer)),
      locals_({"state", "x", "y", "i"}),
      globals_({}) {
  for (std::size_t id = 0; id < fixed_.size(); ++id) {
    const StepOp op = layer.program.values[id].op;
    given_.push_back(!fixed_[id].empty() || op == StepOp::input || op == StepOp::state || op == StepOp::lag);
  }
  loops_ = loops_of(layer.program, given_);
  CNames members({});
  for (const StateDefinition& state : layer.program.states)
    members_.push_back(members.unique(text_of(layer.name, "_", c_identifier(state.name))));
  name_values();
}

void CExpressions::name_values() {
  names_.resize(fixed_.size());
  is_named_.resize(fixed_.size());
  const auto give = [&](int id, const std::string& wished) {
    if (given_[id] || !names_[id].empty()) return;
    names_[id] = locals_.unique(wished);
    is_named_[id] = true;
  };
  for (const StateDefinition& state : layer_.program.states) give(state.next, state.name + "_next");
  for (const NamedValue& value : layer_.program.named)
    if (!names_end(value.name)) give(value.value, value.name);
  give(layer_.program.output, "output");
  for (std::size_t id = 0; id < names_.size(); ++id)
    if (!given_[id] && names_[id].empty()) names_[id] = locals_.unique(text_of("v", id));

  std::vector<int> depth(names_.size());
  for (std::size_t id = 0; id < names_.size(); ++id) {
    if (given_[id]) continue;
    const Instruction& v = layer_.program.values[id];
    for (const int operand : {v.a, v.b})
      if (operand >= 0 && !has_variable(operand)) depth[id] = std::max(depth[id], depth[operand] + 1);
    if (depth[id] >= kDeepest) is_named_[id] = true;
  }
}

bool CExpressions::has_variable(int id) const {
  return loops_.is_array[id] || loops_.uses[id] != 1 || is_named_[id];
}

CExpression CExpressions::element(int id, const std::string& index) {
  const Instruction& v = layer_.program.values[id];
  if (!fixed_[id].empty()) return fixed(id, index);
  if (v.op == StepOp::input) {
    reads_input = true;
    return {text_of("x[", index, "]")};
  }
  if (v.op == StepOp::state || v.op == StepOp::lag)
    return {text_of(past(v.index, v.op == StepOp::lag ? v.lag : 0), "[", index, "]")};
  if (loops_.is_array[id]) return {text_of(names_[id], "[", index, "]")};
  return has_variable(id) ? CExpression{names_[id]} : computed(id, index);
}

CExpression CExpressions::fixed(int id, const std::string& index) {
  const std::vector<double>& values = fixed_[id];
  if (std::ranges::all_of(values, [&](double value) { return value == values.front(); })) {
    const std::string text = c_number(values.front(), style_.dtype);
    return {text, text.front() == '-' || text.front() == '(' ? 2 : 3};
  }
  auto found = fixed_names_.find(id);
  if (found == fixed_names_.end()) {
    const Instruction& v = layer_.program.values[id];
    std::string wished = text_of("fixed", id);
    if (v.op == StepOp::weight) wished = layer_.program.weights[v.index].name;
    for (const NamedValue& named : layer_.program.named)
      if (named.value == id && !names_end(named.name)) wished = named.name;
    const std::string name =
        globals_.unique(text_of(style_.name, "_", layer_.name, "_", c_identifier(wished)));
    constants += c_array(name, values, style_.dtype);
    costs.weight_bytes += static_cast<std::int64_t>(values.size() * byte_size(style_.dtype));
    found = fixed_names_.emplace(id, name).first;
  }
  return {text_of(found->second, "[", index, "]")};
}

std::string CExpressions::past(int state, std::int64_t lag) {
  reads_state = true;
  auto& name = pasts_[{state, lag}];
  if (name.empty()) name = locals_.unique(name_of_past(layer_.program.states[state].name, lag));
  return name;
}

std::string CExpressions::state_pointers() const {
  std::string text;
  for (const auto& [key, name] : pasts_) {
    const auto [state, lag] = key;
    const std::int64_t length = layer_.program.history(state) + 1;
    const std::int64_t width = layer_.program.states[state].shape.width();
    text += text_of("  const ", c_type(style_.dtype), " *", name, " = state->", members_[state]);
    if (length > 1 && lag == 0) text += text_of(" + ", width, " * state->", members_[state], "_at");
    if (length > 1 && lag > 0)
      text +=
          text_of(" + ", width, " * ((state->", members_[state], "_at + ", length - lag, ") % ", length, ")");
    text += ";\n";
  }
  return text;
}

std::string CExpressions::vector(int id) {
  const Instruction& v = layer_.program.values[id];
  if (v.op == StepOp::input) {
    reads_input = true;
    return "x";
  }
  if (v.op == StepOp::state || v.op == StepOp::lag) return past(v.index, v.op == StepOp::lag ? v.lag : 0);
  return names_[id];
}

std::string CExpressions::matrix(int weight) {
  std::string& name = matrices_[weight];
  if (!name.empty()) return name;
  const Tensor& value = layer_.weights[weight];
  if (value.numel() > std::numeric_limits<int>::max())
    throw InputError({.op = "export"}, Rule::out_of_range,
                     text_of(layer_.name, ": weight '", layer_.program.weights[weight].name, "' has ",
                             value.numel(), " numbers, more than an int of C counts"));
  const std::string wished = c_identifier(layer_.program.weights[weight].name);
  name = globals_.unique(text_of(style_.name, "_", layer_.name, "_", wished));
  costs.weight_bytes += value.numel() * element_bytes(style_.weights, style_.dtype);
  if (style_.weights == CWeights::real) {
    std::vector<double> values(value.numel());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value.at(static_cast<std::int64_t>(i));
    constants += c_array(name, values, style_.dtype);
    return name;
  }
  const WholeNumbers whole = whole_numbers(value, style_.weights);
  constants += c_array(name, whole.values, style_.weights);
  constants += c_array(name + "_scale", whole.scales, style_.dtype);
  costs.weight_bytes += static_cast<std::int64_t>(whole.scales.size() * byte_size(style_.dtype));
  return name;
}

CExpression CExpressions::call(const std::string& helper, const std::string& arguments, int depth) {
  helpers.insert(helper);
  return {text_of(style_.name, "_", helper, "(", arguments, ")"), 3, depth + 1};
}

CExpression CExpressions::product(const Instruction& v, const std::string& index) {
  const std::int64_t out = layer_.weights[v.index].size(0), in = layer_.weights[v.index].size(1);
  costs.multiply_adds += v.shape.width() * in;
  const std::string W = matrix(v.index), a = vector(v.a);
  const bool grouped = v.shape.width() > out;
  const std::string row = grouped ? text_of(index, " % ", out) : index;
  const std::string first = grouped ? text_of(" + ", times(in, text_of(index, " / ", out))) : "";
  if (style_.weights == CWeights::real && in == 1 && !grouped)
    return {text_of(W, "[", index, "] * ", a, "[0]"), 2, 1};
  const std::string start = row == "0" ? W : text_of(W, " + ", times(in, row));
  if (style_.vectors != CWeights::real) {
    const std::string whole = whole_vector(a, layer_.program.values[v.a].shape.width());
    const CExpression dot = call("whole_dot", text_of(start, ", ", whole, first, ", ", in), 0);
    return sum_or_product("*", 2, {text_of(W, "_scale[", row, "] * ", whole, "_scale"), 2}, dot);
  }
  const CExpression dot = call("dot", text_of(start, ", ", a, first, ", ", in), 0);
  if (style_.weights == CWeights::real) return dot;
  return sum_or_product("*", 2, {text_of(W, "_scale[", row, "]")}, dot);
}

std::string CExpressions::whole_vector(const std::string& vector, std::int64_t width) {
  std::string& name = whole_[vector];
  if (!name.empty()) return name;
  name = locals_.unique(vector + "_whole");
  helpers.insert("whole");
  preparations_ +=
      text_of("  ", c_type(style_.vectors), " ", name, "[", width, "];\n  const ", c_type(style_.dtype), " ",
              name, "_scale = ", style_.name, "_whole(", name, ", ", vector, ", ", width, ");\n");
  costs.stack_bytes += width * element_bytes(style_.vectors, style_.dtype);
  return name;
}

CExpression CExpressions::real_lag(const Instruction& v, const std::string& index) {
  const std::string& member = members_[v.index];
  reads_state = true;
  const std::int64_t width = v.shape.width();
  const std::string tau_index = layer_.program.values[v.a].shape.width() == width ? index : "0";
  const CExpression tau = element(v.a, tau_index);
  return call("lagged",
              text_of("state->", member, " + ", index, ", state->", member, "_at, ",
                      layer_.program.history(v.index) + 1, ", ", width, ", ", v.lag, ", ", tau.text),
              tau.depth);
}

/// Where a view reads its element number `index`, as an expression of C.
std::string CExpressions::viewed(const Instruction& v, const std::string& index) {
  const Shape axes = v.shape.axes(), strides = strides_of(v);
  std::string place;
  std::int64_t inner = v.shape.width();
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const bool outermost = inner == v.shape.width();
    inner /= axes[axis];
    if (axes[axis] == 1 || strides[axis] == 0) continue;
    std::string at = inner == 1 ? factor_of(index) : text_of(factor_of(index), " / ", inner);
    if (!outermost) at = text_of(inner == 1 ? at : text_of("(", at, ")"), " % ", axes[axis]);
    place += text_of(place.empty() ? "" : " + ", times(strides[axis], at));
  }
  if (place.empty()) return text_of(v.index);
  return plus(place, v.index);
}

CExpression CExpressions::computed(int id, const std::string& index) {
  const Instruction& v = layer_.program.values[id];
  const std::int64_t width = v.shape.width();
  const auto width_of = [&](int operand) { return layer_.program.values[operand].shape.width(); };
  switch (v.op) {
    case StepOp::product: return product(v, index);
    case StepOp::real_lag: return real_lag(v, index);
    case StepOp::element: return function(v, index);
    case StepOp::reshape: return element(v.a, index);
    case StepOp::slice: return element(v.a, plus(index, v.index));
    case StepOp::view: return element(v.a, viewed(v, index));
    case StepOp::broadcast:
      return element(v.a, width_of(v.a) == 1 ? "0" : text_of(factor_of(index), " / ", width / width_of(v.a)));
    case StepOp::step_index:
      counts_steps = true;
      if (v.lag > 1) return {text_of("(", c_type(style_.dtype), ")(state->steps / ", v.lag, ")"), 2, 0};
      return {text_of("(", c_type(style_.dtype), ")state->steps"), 2, 0};
    case StepOp::sum: {
      const std::int64_t each = width_of(v.a) / width;
      const std::string first = index == "0" ? "" : text_of(" + ", times(each, index));
      return call("sum", text_of(vector(v.a), first, ", ", each), 0);
    }
    case StepOp::concatenate: {
      const std::int64_t first = width_of(v.a);
      return {text_of(index, " < ", first, " ? ", element(v.a, width_of(v.a) == 1 ? "0" : index).text, " : ",
                      element(v.b, width_of(v.b) == 1 ? "0" : text_of(index, " - ", first)).text),
              0, 1};
    }
    default: throw Error("[export] no rule for an operation.");
  }
}

CExpression CExpressions::function(const Instruction& v, const std::string& index) {
  const CExpression a = element(v.a, index);
  const CExpression b = v.b < 0 ? CExpression{} : element(v.b, index);
  const int depth = std::max(a.depth, b.depth);
  const ElementFunction& f = function_of(v.element);
  const std::string c(f.forms.c);
  if (f.cost == ElementCost::many) costs.called[std::string(f.name)] += v.shape.width();
  if (f.notation == ElementNotation::symbol) {
    if (f.arrays > 1) return sum_or_product(c, c == "*" || c == "/" ? 2 : 1, a, b);
    return {text_of(c, in_parentheses(a, 3)), 2, depth + 1};
  }
  const std::string arguments = f.arrays > 1 ? text_of(a.text, ", ", b.text) : a.text;
  if (has_own_helper(f) || (f.op == ElementOp::tanh && style_.fast_functions))
    return call(std::string(f.name), arguments, depth);
  return {text_of(c_function(c, style_.dtype), "(", arguments, ")"), 3, depth + 1};
}

}  // namespace lagtape
