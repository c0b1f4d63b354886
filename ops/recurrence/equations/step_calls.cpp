#include <algorithm>
#include <map>
#include <memory>
#include <optional>

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

/// Arrays of numbers with given sizes.
constexpr std::string_view kArrays[] = {"zeros", "ones", "eye", "arange"};

}  // namespace

std::vector<std::string> step_function_names() {
  std::vector<std::string> names = {"reshape", "expand", "concat", "slice", "einsum", "spike",
                                    "complex", "real",   "imag",   "conj",  "angle",  "integral"};
  for (const ArrayFunction<StepVar>& function : array_functions<StepVar>()) names.emplace_back(function.name);
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function) names.emplace_back(function.name);
  for (const auto& row : kDraws) names.emplace_back(row.first);
  for (const std::string_view array : kArrays) names.emplace_back(array);
  return names;
}

EquationParser::Operand EquationParser::called(const EquationToken& name) {
  if (const auto own = scope_.functions.find(name.text); own != scope_.functions.end())
    return scope_.used_functions.insert(own->first), own_function(name, own->second);
  EquationSymbol* symbol = scope_.find(name.text);
  const std::vector<std::string> functions = step_function_names();
  const bool is_value = symbol != nullptr && symbol->kind != Kind::function;
  if (symbol == nullptr && std::ranges::find(functions, name.text) == functions.end()) resolve(name);
  if (is_value && array_function_named<StepVar>(name.text) == nullptr) {
    resolve(name);
    if (scope_.ode && (symbol->kind == Kind::state || symbol->kind == Kind::slope))
      return {past_value(name, *symbol), nullptr, name};
    const bool in_time = (symbol->kind == Kind::state || symbol->kind == Kind::input) && peek().text == "t";
    fail(name,
         text_of("'", name.text, "' is ", description_of(symbol->kind), ", not a function",
                 in_time ? text_of("; ", kStepsOfState) : "."),
         Rule::wrong_type);
  }
  if (kDraws.contains(name.text)) return {draw(name), nullptr, name};
  if (name.text == "einsum") return einsum_called(name);
  if (name.text == "spike") return spiking(name);
  if (name.text == "integral") return {integral(name), nullptr, name};
  const std::vector<Operand> values = arguments();
  close(")");
  if (const std::optional<Operand> complex = complex_function(name, values)) return *complex;
  return function_of_values(name, values);
}

EquationParser::Operand EquationParser::function_of_values(const EquationToken& name,
                                                           const std::vector<Operand>& values) {
  const auto result = [&](StepVar value) { return Operand{value, nullptr, name}; };
  if (const ArrayFunction<StepVar>* function = array_function_named<StepVar>(name.text)) {
    if (function->name == "transpose" && values.size() == 1) return transposed_by(name, values.front());
    return result(composed(name, *function, values));
  }
  if (name.text == "reshape") {
    check_count(name, values.size(), 2, 1 + RowShape::kLargestRank);
    const StepVar a = value_of(values[0]);
    const Shape sizes = sizes_of(std::span(values).subspan(1), a.shape().width());
    const bool is_one = a.shape().rank == 0 && element_count(sizes) == 1;
    return result(record(name, [&] {
      return is_one ? scope_.tape.expand(a, sizes) : scope_.tape.reshape(a, RowShape::of(sizes));
    }));
  }
  if (name.text == "expand") {
    check_count(name, values.size(), 2, 1 + RowShape::kLargestRank);
    return result(record(name, [&] {
      return scope_.tape.expand(value_of(values[0]), shape_of(std::span(values).subspan(1)).axes());
    }));
  }
  if (std::ranges::find(kArrays, name.text) != std::end(kArrays)) return result(array_called(name, values));
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

StepVar EquationParser::array_called(const EquationToken& name, const std::vector<Operand>& sizes) {
  check_count(name, sizes.size(), 1,
              name.text == "zeros" || name.text == "ones" ? RowShape::kLargestRank : 1);
  const Shape shape = shape_of(sizes).axes();
  if (name.text == "zeros" || name.text == "ones")
    return record(
        name, [&] { return scope_.tape.expand(scope_.tape.constant(name.text == "ones" ? 1 : 0), shape); });
  const std::int64_t n = shape[0], count = name.text == "eye" ? n * n : n;
  constexpr std::int64_t kMostNumbers = 1 << 22;
  if (count > kMostNumbers)
    fail(name, text_of("an array has at most ", kMostNumbers, " numbers"), Rule::out_of_range,
         text_of(count));
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < n; ++i)
    numbers[static_cast<std::size_t>(name.text == "eye" ? i * n + i : i)] =
        name.text == "eye" ? 1 : static_cast<double>(i);
  return record(name, [&] { return scope_.array(name.text == "eye" ? Shape{n, n} : Shape{n}, numbers); });
}

void EquationParser::open_call(const EquationFunction& function) {
  scope_.open_locals(true);
  scope_.calls.push_back(&function);
}

void EquationParser::close_call() {
  scope_.close_locals();
  scope_.calls.pop_back();
}

void EquationParser::bind(const std::string& name, const Operand& value) {
  scope_.add_local(name, {.kind = Kind::equation, .bound = std::make_shared<Operand>(value)});
}

EquationParser::Operand EquationParser::spiking(const EquationToken& name) {
  const StepVar u = value_of(condition());
  std::string shape = "fast_sigmoid";
  std::optional<double> slope;
  while (take_sign(",")) {
    take_keyword("surrogate");
    take_keyword("slope");
    if (peek().kind == EquationToken::Kind::text) {
      const std::string_view text = take().text;
      shape = text.substr(1, text.size() - 2);
    } else {
      slope = constant(sum());
    }
  }
  close(")");
  return {record(name, [&] { return spike(u, shape, slope ? *slope : default_slope(shape)); }), nullptr,
          name};
}

StepVar EquationParser::composed(const EquationToken& name, const ArrayFunction<StepVar>& function,
                                 const std::vector<Operand>& values) {
  check_count(name, values.size(), function.least, function.most);
  std::vector<StepVar> operands;
  std::vector<std::optional<double>> numbers;
  for (const Operand& value : values) {
    operands.push_back(value_of(value));
    numbers.emplace_back();
    if (scope_.tape.is_number(operands.back())) numbers.back() = scope_.tape.at(operands.back().id()).value;
  }
  return record(name, [&] { return function.value({operands, numbers}); });
}

EquationParser::Operand EquationParser::einsum_of(const EquationToken& name, std::string_view letters,
                                                  const std::vector<Operand>& operands) const {
  std::vector<StepVar> values;
  for (const Operand& operand : operands) values.push_back(value_of(operand));
  return {record(name, [&] { return einsum<StepVar>(letters, values); }), nullptr, name};
}

/// The parts joined along an axis, which is a number after them; by default the first axis.
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

std::optional<double> EquationParser::known_number(const Operand& operand) const {
  const bool known =
      operand.matrix == nullptr && !is_complex(operand) && scope_.tape.is_number(operand.value);
  return known ? std::optional(scope_.tape.at(operand.value.id()).value) : std::nullopt;
}

EquationParser::Operand EquationParser::expanded(const Operand& operand, const Shape& shape) const {
  const StepVar value = value_of(operand);
  return {record(operand.token, [&] { return scope_.tape.expand(value, shape); }), nullptr, operand.token};
}

// ---- Indices ----

StepVar EquationParser::indexed(const EquationToken& at, StepVar value, const IndexedPart& part) {
  const Shape from = value.shape().axes();
  const std::int64_t width = element_count(part.axes);
  std::int64_t dense = 1;
  bool moves = part.first != 0 || part.axes.empty() || from.empty() || width != element_count(from);
  for (std::size_t i = part.axes.size(); i-- > 0; dense *= part.axes[i])
    moves |= part.axes[i] != 1 && part.strides[i] != dense;
  if (!moves) return record(at, [&] { return scope_.tape.reshape(value, RowShape::of(part.axes)); });
  if (from.size() == 1 && part.axes.size() == 1 && (part.strides[0] == 1 || width == 1) && width <= from[0])
    return record(at, [&] { return scope_.tape.slice(value, part.first, part.first + width); });
  return record(at, [&] { return scope_.tape.view(value, part.axes, part.first, part.strides); });
}

}  // namespace lagtape
