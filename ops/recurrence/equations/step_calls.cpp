#include <algorithm>
#include <limits>
#include <map>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/axes.h"
#include "lagtape/ops/recurrence/equations/slips.h"
#include "lagtape/ops/recurrence/equations/step_parser.h"

namespace lagtape {
namespace {

using Kind = EquationSymbol::Kind;

struct DrawRow {
  DrawDefinition::Kind kind;
  bool every_step;
  double mean;
};
const std::map<std::string_view, DrawRow> kDraws = {
    {"uniform", {DrawDefinition::Kind::uniform, true, 0.5}},
    {"normal", {DrawDefinition::Kind::normal, true, 0}},
    {"uniform_once", {DrawDefinition::Kind::uniform, false, 0.5}},
    {"normal_once", {DrawDefinition::Kind::normal, false, 0}},
    {"mask", {DrawDefinition::Kind::mask, true, 1}},
    {"mask_once", {DrawDefinition::Kind::mask, false, 1}},
};

}  // namespace

std::vector<std::string> step_function_names() {
  std::vector<std::string> names = {"reshape", "expand", "concat", "slice", "einsum"};
  for (const StepFunction& function : step_functions()) names.emplace_back(function.name);
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function) names.emplace_back(function.name);
  for (const auto& row : kDraws) names.emplace_back(row.first);
  return names;
}

EquationParser::Operand EquationParser::called(const EquationToken& name) {
  if (const StepFunction* function = step_function_named(name.text)) {
    const std::vector<Operand> values = arguments();
    close(")");
    if (function->name == "transpose" && values.size() == 1) return transposed_of(values.front());
    return {composed(name, *function, values), nullptr, name};
  }
  EquationSymbol& symbol = resolve(name);
  if (scope_.ode && (symbol.kind == Kind::state || symbol.kind == Kind::slope))
    return {past_value(name, symbol), nullptr, name};
  if (symbol.kind != Kind::function) {
    const bool in_time = (symbol.kind == Kind::state || symbol.kind == Kind::input) && peek().text == "t";
    fail(name,
         text_of("'", name.text, "' is ", description_of(symbol.kind), ", not a function",
                 in_time ? text_of("; ", kStepsOfState) : "."),
         Rule::wrong_type);
  }
  const auto result = [&](StepVar value) { return Operand{value, nullptr, name}; };
  if (kDraws.contains(name.text)) return result(draw(name));

  if (name.text == "einsum") return result(einsum_of(name));
  const std::vector<Operand> values = arguments();
  close(")");
  if (name.text == "reshape" || name.text == "expand") {
    check_count(name, values.size(), 2, 1 + RowShape::kLargestRank);
    const RowShape shape = shape_of(std::span(values).subspan(1));
    return result(record(name, [&] {
      const StepVar a = value_of(values[0]);
      return name.text == "reshape" ? scope_.tape.reshape(a, shape) : scope_.tape.expand(a, shape.axes());
    }));
  }
  if (const ElementFunction* function = function_named(name.text)) {
    const bool of_many = function->op == ElementOp::minimum || function->op == ElementOp::maximum;
    check_count(name, values.size(), function->arrays, of_many ? 16 : function->arrays);
    StepVar a = value_of(values[0]);
    if (function->arrays == 1)
      return result(record(name, [&] { return scope_.tape.unary(function->op, a); }));
    for (const Operand& operand : std::span(values).subspan(1)) {
      const StepVar b = value_of(operand);
      a = record(name, [&] { return scope_.tape.binary(function->op, a, b); });
    }
    return result(a);
  }
  if (name.text == "concat") return result(concatenated(name, values));
  if (name.text == "slice") {
    check_count(name, values.size(), 3, 3);
    const std::int64_t begin = whole(value_of(values[1]), values[1].token),
                       end = whole(value_of(values[2]), values[2].token);
    return result(record(name, [&] { return scope_.tape.slice(value_of(values[0]), begin, end); }));
  }
  throw Error("[equations] a function without a rule");
}

StepVar EquationParser::composed(const EquationToken& name, const StepFunction& function,
                                 const std::vector<Operand>& values) {
  check_count(name, values.size(), function.least, function.most);
  std::vector<StepVar> operands;
  for (const Operand& value : values) operands.push_back(value_of(value));
  return record(name, [&] { return function.value(operands); });
}

StepVar EquationParser::einsum_of(const EquationToken& name) {
  const EquationToken letters = take();
  if (letters.kind != EquationToken::Kind::text)
    fail(letters, "einsum takes the letters of the axes first, as in einsum('ij,j->i', A, v)");
  if (!take_sign(",")) expected("','");
  std::vector<StepVar> operands;
  for (const Operand& operand : arguments()) operands.push_back(value_of(operand));
  close(")");
  return record(name, [&] { return einsum(letters.text.substr(1, letters.text.size() - 2), operands); });
}

/// The parts one after another along an axis, which is a number after them; the first where there is none.
StepVar EquationParser::concatenated(const EquationToken& name, std::vector<Operand> parts) {
  std::int64_t axis = 0;
  if (parts.size() > 2 && !parts.back().matrix && scope_.tape.is_number(parts.back().value)) {
    axis = whole(parts.back().value, parts.back().token);
    parts.pop_back();
  }
  if (parts.size() < 2)
    fail(name, "'concat' takes at least 2 arguments", Rule::out_of_range, text_of(parts.size()));
  StepVar all = value_of(parts[0]);
  for (const Operand& part : std::span(parts).subspan(1)) {
    const StepVar value = value_of(part);
    all = record(name, [&] { return joined(all, value, axis); });
  }
  return all;
}

StepVar EquationParser::draw(const EquationToken& name) {
  const DrawRow& row = kDraws.at(name.text);
  std::vector<Operand> dimensions = arguments();
  if (row.kind == DrawDefinition::Kind::mask) {
    check_count(name, dimensions.size(), 1, 3);
    const double rate = number_of(value_of(dimensions.front()), dimensions.front().token);
    dimensions.erase(dimensions.begin());
    close(")");
    return record(name, [&] { return scope_.tape.mask(shape_of(dimensions), rate, row.every_step); });
  }
  check_count(name, dimensions.size(), 0, 2);
  double evaluation = row.mean;
  if (peek().text == "evaluate") {
    take();
    if (!take_sign("=")) expected("'='");
    const EquationToken first = peek();
    evaluation = number_of(value_of(sum()), first);
  }
  close(")");
  return scope_.tape.draw(row.kind, shape_of(dimensions), row.every_step, evaluation);
}

RowShape EquationParser::shape_of(std::span<const Operand> dimensions) const {
  Shape sizes;
  for (const Operand& dimension : dimensions) sizes.push_back(size(value_of(dimension), dimension.token));
  return RowShape::of(sizes);
}

// ---- Indices ----

/// What follows an array's opening bracket: a part of each axis, numbers counted from 0 as in NumPy.
StepVar EquationParser::indexed(const EquationToken& at, StepVar value) {
  const Shape from = value.shape().axes();
  Shape strides(from.size(), 1), axes, steps;
  for (std::size_t i = from.size(); i-- > 1;) strides[i - 1] = strides[i] * from[i];
  std::int64_t first = 0;
  std::size_t axis = 0;
  do {
    if (peek().is("]")) break;
    if (peek().text == "None") {
      take();
      axes.push_back(1);
      steps.push_back(0);
      continue;
    }
    if (axis == from.size())
      fail(peek(), "there are more indices than axes", Rule::shape, to_string(value.shape()));
    const AxisIndex index = axis_index(from[axis]);
    first += index.begin * strides[axis];
    if (index.keeps_axis) {
      axes.push_back(index.count);
      steps.push_back(index.step * strides[axis]);
    }
    ++axis;
  } while (take_sign(","));
  close("]");
  for (; axis < from.size(); ++axis) {
    axes.push_back(from[axis]);
    steps.push_back(strides[axis]);
  }
  const std::int64_t width = element_count(axes);
  std::int64_t dense = 1;
  bool moves = first != 0 || axes.empty() || from.empty() || width != element_count(from);
  for (std::size_t i = axes.size(); i-- > 0; dense *= axes[i]) moves |= axes[i] != 1 && steps[i] != dense;
  if (!moves) return record(at, [&] { return scope_.tape.reshape(value, RowShape::of(axes)); });
  if (from.size() == 1 && axes.size() == 1 && (steps[0] == 1 || width == 1) && width <= from[0])
    return record(at, [&] { return scope_.tape.slice(value, first, first + width); });
  return record(at, [&] { return scope_.tape.view(value, axes, first, steps); });
}

EquationParser::AxisIndex EquationParser::axis_index(std::int64_t n) {
  const EquationToken at = peek();
  const auto number = [&](std::int64_t otherwise) {
    if (peek().is(":") || peek().is("]") || peek().is(",")) return otherwise;
    const EquationToken token = peek();
    return whole(value_of(sum()), token);
  };
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  std::int64_t begin = number(kNone);
  if (!take_sign(":")) {
    if (begin < 0)
      fail(at,
           "an index counts from 0; only a state has past values, as in h[-3], and the last elements are "
           "a[-3:]",
           Rule::out_of_range, text_of(begin));
    if (begin >= n)
      fail(at, text_of("an index of this axis is below ", n), Rule::out_of_range, text_of(begin));
    return {begin, 1, 1, false};
  }
  std::int64_t end = number(kNone), step = take_sign(":") ? number(1) : 1;
  if (step == 0) fail(at, "the step of a part is not 0", Rule::out_of_range);
  const auto within = [&](std::int64_t i, std::int64_t otherwise) {
    if (i == kNone) return otherwise;
    return std::clamp(i < 0 ? i + n : i, step > 0 ? std::int64_t{0} : -1, step > 0 ? n : n - 1);
  };
  begin = within(begin, step > 0 ? 0 : n - 1);
  end = within(end, step > 0 ? n : -1);
  const std::int64_t count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
  if (count < 1) fail(at, text_of("this part of an axis of ", n, " has no elements"), Rule::out_of_range);
  return {begin, count, step, true};
}

}  // namespace lagtape
