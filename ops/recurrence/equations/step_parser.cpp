#include "lagtape/ops/recurrence/equations/step_parser.h"

#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/compositions.h"
#include "lagtape/ops/recurrence/equations/slips.h"

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
  std::vector<std::string> names = {"sum",   "mean", "reshape", "concat", "slice",
                                    "where", "mod",  "outer",   "clamp"};
  for (const ElementFunction& function : kElementFunctions)
    if (function.notation == ElementNotation::function) names.emplace_back(function.name);
  for (const auto& row : kDraws) names.emplace_back(row.first);
  return names;
}

std::string description_of(Kind kind) {
  switch (kind) {
    case Kind::function: return "a function";
    case Kind::input: return "the input";
    case Kind::step_index: return "the step index";
    case Kind::time: return "the time";
    case Kind::dimension: return "a dimension";
    case Kind::hyper: return "a hyper-parameter";
    case Kind::state: return "a state";
    case Kind::next: return "a next value";
    case Kind::slope: return "the derivative of a state";
    case Kind::weight: return "a weight";
    case Kind::equation: return "an equation";
    case Kind::failed: return "a name whose own line has an error";
  }
  return {};
}

// ---- Scope ----

EquationScope::EquationScope(std::int64_t input) : tape(input) {
  for (const std::string& name : step_function_names()) symbols_[name] = {};
}

void EquationScope::add(const std::string& name, EquationSymbol symbol) {
  symbols_[name] = std::move(symbol);
  added_.push_back(name);
}

EquationSymbol* EquationScope::find(std::string_view name) {
  const auto place = symbols_.find(name);
  return place == symbols_.end() ? nullptr : &place->second;
}

void EquationScope::declare(std::string_view name, EquationSymbol& symbol) {
  if (symbol.declared) return;
  symbol.declared = true;
  const std::string text(name);
  const Shape& shape = symbol.shape;
  if (shape.empty()) symbol.value = tape.scalar(text);
  if (shape.size() == 1) symbol.value = tape.vector(text, shape[0]);
  if (shape.size() == 2) symbol.matrices = {tape.matrix(text, shape[0], shape[1])};
  if (shape.size() == 3) {
    for (std::int64_t g = 0; g < shape[0]; ++g)
      symbol.matrices.push_back(tape.matrix(text_of(text, ".", g), shape[1], shape[2]));
  }
}

void EquationScope::add_failed(const std::string& name) {
  if (find(name) == nullptr) add(name, {.kind = EquationSymbol::Kind::failed});
}

StepVar EquationScope::past_input(std::int64_t steps) {
  if (steps == 0) return tape.input();
  if (past_input_.id() < 0) {
    past_input_ = tape.state("x.past", tape.input().shape());
    tape.set_next(past_input_, tape.input());
  }
  return tape.lag(past_input_, steps - 1);
}

// ---- Lines ----

EquationParser::EquationParser(EquationScope& scope, EquationLine line)
    : EquationGrammar(std::move(line)), scope_(scope) {}

EquationToken EquationParser::target() {
  const EquationToken name = take();
  if (name.kind == EquationToken::Kind::name && peek().is("=="))
    fail(peek(), "an equation sets its name with one =.");
  if (name.kind != EquationToken::Kind::name || !take_sign("=")) {
    fail(name, "an equation reads NAME = EXPRESSION or STATE' = EXPRESSION.");
  }
  return name;
}

StepVar EquationParser::expression() {
  const StepVar value = value_of(comparison());
  check_end();
  return value;
}

std::int64_t EquationParser::dimension() {
  const EquationToken first = peek();
  return size(expression(), first);
}

// ---- Names ----

EquationParser::Operand EquationParser::named(const EquationToken& token) {
  EquationSymbol& symbol = resolve(token);
  if (symbol.kind == Kind::function)
    fail(token, text_of("'", token.text, "' is a function; its arguments are missing."), Rule::missing);
  if (symbol.kind == Kind::slope && symbol.value.id() < 0)
    fail(token, text_of(token.text, " is read before an equation sets it."), Rule::missing);
  symbol.used = true;
  scope_.declare(token.text, symbol);
  if (take_sign("[")) return {lagged(token, symbol), nullptr, token};
  return {symbol.value, symbol.matrices.empty() ? nullptr : &symbol, token};
}

StepVar EquationParser::lagged(const EquationToken& name, const EquationSymbol& state) {
  const EquationToken first = peek();
  if (scope_.ode)
    fail(name, text_of("an \"ode\" counts no steps; a past value is ", name.text,
                       "(t - E), with E in units of t, as in ", name.text, "(t - tau)."));
  if (first.text == "t" || first.text == "n")
    fail(first, text_of("a step has no number here: ", kStepsOfState));
  const StepVar index = value_of(sum());
  close("]");
  if (state.kind == Kind::input) return past_input(first, index);
  if (state.kind != Kind::state) {
    fail(name,
         text_of("only a state has past values; '", name.text, "' is ", description_of(state.kind), "."));
  }
  const Instruction& v = scope_.tape.at(index.id());
  if (v.computes(ElementOp::negate) && scope_.tape.at(v.a).op == StepOp::weight)
    return trained_lag(first, state.value, v.a);
  return scope_.tape.lag(state.value, lag(first, index, "h"));
}

StepVar EquationParser::past_input(const EquationToken& at, StepVar index) {
  if (!scope_.tape.is_number(index))
    fail(at,
         "a lag of the input is a number; for a trained one, remember it in a state: p' = x, and read "
         "p[-theta].");
  const std::int64_t steps = lag(at, index, "x");
  return record(at, [&] { return scope_.past_input(steps); });
}

std::int64_t EquationParser::lag(const EquationToken& at, StepVar index, const char* example) const {
  const double steps = -number_of(index, at);
  if (steps < 0)
    fail(at, text_of("an index is 0 or less, as in ", example, "[-3]; the future is not known"),
         Rule::out_of_range, text_of(-steps));
  return whole(steps, at, "the lag");
}

StepVar EquationParser::trained_lag(const EquationToken& at, StepVar state, int weight) {
  const StepProgram& program = scope_.tape.recorded();
  const std::string name = program.weights[program.values[weight].index].name;
  const auto largest = scope_.largest_lags.find(name);
  if (largest == scope_.largest_lags.end()) {
    fail(at, text_of("the lag '", name, "' is a weight; its largest value must be given in \"lags\"."),
         Rule::missing);
  }
  return record(at, [&] { return scope_.tape.lag(state, scope_.find(name)->value, largest->second); });
}

// ---- Functions ----

EquationParser::Operand EquationParser::called(const EquationToken& name) {
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

  const std::vector<Operand> values = arguments();
  close(")");
  if (name.text == "reshape") {
    check_count(name, values.size(), 2, 3);
    const RowShape shape = shape_of(std::span(values).subspan(1));
    return result(record(name, [&] { return scope_.tape.reshape(value_of(values[0]), shape); }));
  }
  if (const ElementFunction* function = function_named(name.text)) {
    check_count(name, values.size(), function->arrays, function->arrays);
    const StepVar a = value_of(values[0]);
    if (function->arrays == 1)
      return result(record(name, [&] { return scope_.tape.unary(function->op, a); }));
    const StepVar b = value_of(values[1]);
    return result(record(name, [&] { return scope_.tape.binary(function->op, a, b); }));
  }
  if (name.text == "concat") return result(concatenated(name, values));
  if (name.text == "slice") {
    check_count(name, values.size(), 3, 3);
    const std::int64_t begin = whole(value_of(values[1]), values[1].token),
                       end = whole(value_of(values[2]), values[2].token);
    return result(record(name, [&] { return scope_.tape.slice(value_of(values[0]), begin, end); }));
  }
  return result(composed(name, values));
}

/// The functions that the step has no operation of its own for, and the sums.
StepVar EquationParser::composed(const EquationToken& name, const std::vector<Operand>& values) {
  const bool of_three = name.text == "where" || name.text == "clamp",
             of_two = name.text == "mod" || name.text == "outer";
  const std::size_t count = of_three ? 3 : of_two ? 2 : 1;
  check_count(name, values.size(), count, count);
  const StepVar a = value_of(values[0]);
  if (of_three) {
    const StepVar b = value_of(values[1]), c = value_of(values[2]);
    return record(name, [&] { return name.text == "where" ? where(a, b, c) : clamp(a, b, c); });
  }
  if (of_two) {
    const StepVar b = value_of(values[1]);
    return record(name, [&] { return name.text == "mod" ? mod(a, b) : outer(a, b); });
  }
  return record(name, [&] { return name.text == "mean" ? mean(a) : lagtape::sum(a); });
}

StepVar EquationParser::concatenated(const EquationToken& name, const std::vector<Operand>& parts) {
  if (parts.size() < 2)
    fail(name, "'concat' takes at least 2 arguments", Rule::out_of_range, text_of(parts.size()));
  StepVar all = value_of(parts[0]);
  for (const Operand& part : std::span(parts).subspan(1)) {
    const StepVar value = value_of(part);
    all = record(name, [&] { return scope_.tape.concatenate(all, value); });
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
  std::vector<std::int64_t> sizes;
  for (const Operand& dimension : dimensions) sizes.push_back(size(value_of(dimension), dimension.token));
  if (sizes.empty()) return RowShape::scalar();
  return sizes.size() == 1 ? RowShape::vector(sizes[0]) : RowShape::grouped(sizes[0], sizes[1]);
}

// ---- Operations ----

EquationParser::Operand EquationParser::number(const EquationToken& token) {
  return {scope_.tape.constant(token.value), nullptr, token};
}

EquationParser::Operand EquationParser::negated(const EquationToken& sign, const Operand& operand) {
  const StepVar value = value_of(operand);
  return {record(sign, [&] { return -value; }), nullptr, sign};
}

EquationParser::Operand EquationParser::combined(const EquationToken& sign, const Operand& left,
                                                 const Operand& right) {
  if (sign.is("@")) return multiplied(sign, left, right);
  if (sign.is("*") && left.matrix)
    fail(left.token, text_of("the product with the matrix '", left.token.text,
                             "' is written with @: ", left.token.text, " @ v."));
  const StepVar a = value_of(left), b = value_of(right);
  const auto value = [&] {
    if (sign.is("%")) return mod(a, b);
    if (sign.is("^")) return power(a, b);
    if (sign.is(">")) return greater(a, b);
    if (sign.is("<")) return greater(b, a);
    if (sign.is(">=")) return 1 - greater(b, a);
    if (sign.is("<=")) return 1 - greater(a, b);
    return scope_.tape.binary(sign.is("+")   ? ElementOp::add
                              : sign.is("-") ? ElementOp::subtract
                              : sign.is("*") ? ElementOp::multiply
                                             : ElementOp::divide,
                              a, b);
  };
  return {record(sign, value), nullptr, left.token};
}

EquationParser::Operand EquationParser::multiplied(const EquationToken& sign, const Operand& left,
                                                   const Operand& right) {
  const StepVar v = value_of(right);
  if (!left.matrix && left.value.shape().rank != 2) {
    fail(sign, "left of @ there must be a matrix: a weight, or a computed one [out, in]", Rule::shape,
         text_of(to_string(left.value.shape()), " and ", to_string(v.shape())));
  }
  const auto value = [&] {
    if (!left.matrix) return computed_product(left.value, v);
    return left.matrix->shape.size() == 3 ? product_of_groups(left.matrix->matrices, v)
                                          : product(left.matrix->matrices.front(), v);
  };
  return {record(sign, value), nullptr, left.token};
}

/// Runs `record` and adds the place in the line to errors of the tape.
template <class Record>
StepVar EquationParser::record(const EquationToken& at, Record recorded) const {
  try {
    return recorded();
  } catch (const InputError& error) {
    fail(at, error.problems().front());
  }
}

StepVar EquationParser::value_of(const Operand& operand) const {
  if (!operand.matrix) return operand.value;
  const std::string_view name = operand.token.text;
  fail(operand.token, text_of("the matrix '", name, "' ", to_string(operand.matrix->shape),
                              " stands left of @ only; write a * (", name, " @ v) with parentheses."));
}

double EquationParser::number_of(StepVar value, const EquationToken& at) const {
  const Instruction& v = scope_.tape.at(value.id());
  if (v.op != StepOp::constant)
    fail(at, "this must be made of numbers, hyper-parameters and dimensions.", Rule::wrong_type);
  return v.value;
}

std::int64_t EquationParser::whole(double size, const EquationToken& at, const char* what) const {
  constexpr double kLargest = 1 << 30;
  if (size != std::floor(size))
    fail(at, text_of(what, " must be a whole number"), Rule::wrong_type, text_of(size));
  if (std::abs(size) > kLargest)
    fail(at, text_of(what, " must be at most 2^30 in size"), Rule::out_of_range, text_of(size));
  return static_cast<std::int64_t>(size);
}

std::int64_t EquationParser::whole(StepVar value, const EquationToken& at) const {
  return whole(number_of(value, at), at, "this");
}

std::int64_t EquationParser::size(StepVar value, const EquationToken& at) const {
  const std::int64_t size = whole(value, at);
  if (size < 1) fail(at, "this must be at least 1", Rule::out_of_range, text_of(size));
  return size;
}

EquationSymbol& EquationParser::resolve(const EquationToken& name) {
  if (EquationSymbol* symbol = scope_.find(name.text)) {
    if (symbol->kind == Kind::failed) throw FollowingError();
    return *symbol;
  }
  const std::string cure = cure_of_name(name.text);
  if (!cure.empty()) fail(name, text_of("unknown name '", name.text, "'", cure), Rule::unknown_name);
  if (scope_.lacks_names) throw FollowingError();
  if (name.text.back() == '\'') {
    const EquationSymbol* state = scope_.find(name.text.substr(0, name.text.size() - 1));
    if (state && state->kind == Kind::state)
      fail(name, text_of(name.text, " is read before an equation sets it."), Rule::missing);
  }
  std::vector<std::string> known = scope_.added();
  Problem problem = unknown_name("name", name.text, known);
  for (const std::string& function : step_function_names()) known.push_back(function);
  problem.nearest = nearest_name(name.text, known);
  if (!problem.nearest.empty()) problem.expected.clear();
  fail(name, problem);
}

}  // namespace lagtape
