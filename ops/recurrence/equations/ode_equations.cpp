#include "lagtape/ops/recurrence/equations/ode_equations.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

using Kind = EquationSymbol::Kind;

bool declares(const EquationCell& cell, const std::string& name) {
  const auto is = [&](const auto& named) { return named.name == name; };
  const auto starts = [&](const auto& pair) { return pair.first == name; };
  return std::ranges::any_of(cell.states, is) || std::ranges::any_of(cell.weights, is) ||
         std::ranges::any_of(cell.params, is) || std::ranges::any_of(cell.hyper, starts) ||
         std::ranges::any_of(cell.derived, starts);
}

/// Throws unless a history is made of its time, weights and numbers.
void check_history(const StepTape& tape, int value, int time, const Place& at) {
  const Instruction& v = tape.at(value);
  if (value == time || v.op == StepOp::weight || v.op == StepOp::constant) return;
  if (is_leaf(v.op) || v.op == StepOp::product)
    throw InputError(at, Rule::wrong_type, "a history is made of t, params and numbers");
  check_history(tape, v.a, time, at);
  if (v.b >= 0) check_history(tape, v.b, time, at);
}

std::vector<std::string> names_of(const EquationCell& cell) {
  std::vector<std::string> names;
  for (const auto& state : cell.states) names.push_back(state.name);
  return names;
}

}  // namespace

void begin_time(EquationScope& scope, const EquationCell& cell) {
  scope.ode = TimeScope{.time = scope.tape.state("t", RowShape::scalar()),
                        .history_time = scope.tape.state("t of histories", RowShape::scalar())};
  scope.add("t", {.kind = Kind::time, .value = scope.ode->time});
  const std::string input = cell.input.empty() ? "x" : cell.input;
  if (!cell.input.empty() || !declares(cell, input))
    scope.add(input, {.kind = Kind::input, .value = scope.tape.input()});
}

void add_slope(EquationScope& scope, const std::string& state) {
  const std::string name = "d" + state;
  if (const EquationSymbol* taken = scope.find(name))
    throw InputError(
        {.item = text_of("state '", state, "'")}, Rule::conflict,
        text_of(name, " is its derivative, but the name is taken; it is ", description_of(taken->kind), "."));
  scope.add(name, {.kind = Kind::slope});
}

bool read_slope(EquationScope& scope, EquationParser& parser, const EquationToken& target) {
  const std::string name(target.text);
  if (name.back() == '\'') {
    const std::string state = name.substr(0, name.size() - 1);
    parser.fail(target, text_of("an \"ode\" has no next value ", name, "; it sets d", state,
                                ", the derivative of ", state, " by t."));
  }
  EquationSymbol* slope = scope.find(name);
  if (slope == nullptr || slope->kind != Kind::slope) return false;
  if (slope->value.id() >= 0) parser.fail(target, text_of(name, " is set twice."), Rule::conflict);
  const StepVar state = scope.find(name.substr(1))->value;
  StepVar value = parser.expression();
  const bool spreads = value.shape().rank == 0 && state.shape().rank > 0;
  if (!spreads && value.shape() != state.shape())
    parser.fail(target, "the derivative of a state has its shape", Rule::shape,
                text_of(name, " ", to_string(value.shape()), " and ", to_string(state.shape())));
  if (spreads && scope.tape.is_number(value)) value = value + 0 * state;  // as wide as the state
  scope.find(name)->value = spreads ? scope.tape.broadcast(value, state.shape()) : value;
  return true;
}

int read_history(EquationScope& scope, const std::string& state, const std::string& text) {
  const EquationSymbol* symbol = scope.find(state);
  if (symbol == nullptr || symbol->kind != Kind::state) {
    std::vector<std::string> states;
    for (const std::string& name : scope.added())
      if (scope.find(name)->kind == Kind::state) states.push_back(name);
    throw InputError(unknown_name("state", state, states));
  }
  const EquationLine line{text_of("history '", state, "'"), text};
  EquationSymbol& time = *scope.find("t");
  const StepVar own = scope.ode->history_time, now = std::exchange(time.value, own);
  StepVar value;
  try {
    value = EquationParser(scope, line).expression();
  } catch (...) {
    scope.find("t")->value = now;
    throw;
  }
  scope.find("t")->value = now;
  check_history(scope.tape, value.id(), own.id(), place_in(line, 0));
  if (value.shape().rank > 0 && value.shape() != symbol->value.shape())
    throw InputError(place_in(line, 0), Rule::shape, "a history is one number, or has the shape of its state",
                     text_of(to_string(value.shape()), " and ", to_string(symbol->value.shape())));
  return value.id();
}

void check_state(EquationScope& scope, const std::string& state,
                 const std::map<std::string, int>& histories) {
  const Place place{.item = text_of("state '", state, "'")};
  if (scope.find("d" + state)->value.id() < 0)
    throw InputError(place, Rule::missing, text_of("has no derivative: no equation sets d", state, "."));
  if (!histories.contains(state))
    throw InputError(place, Rule::missing,
                     text_of("has no history: \"history\": {\"", state,
                             "\": ...} gives its value at t <= 0, a number, a param or an expression of t."));
}

RightSide right_side_of(EquationScope& scope, const EquationCell& cell,
                        const std::map<std::string, int>& histories) {
  StepTape& tape = scope.tape;
  if (!tape.recorded().draws.empty())
    throw InputError({}, Rule::not_supported, "an \"ode\" has no random draws");
  RightSide side;
  side.time = scope.ode->time.id();
  side.history_time = scope.ode->history_time.id();
  side.reads = scope.ode->reads;
  for (const std::string& name : names_of(cell)) {
    const StepVar state = scope.find(name)->value, slope = scope.find("d" + name)->value;
    RightSide::State of{.value = state.id(), .slope = slope.id(), .history = histories.at(name)};
    of.history_slope = record_derivative(tape, of.history, side.history_time);
    if (cell.has_rates) of.rate = record_rate(tape, of.slope, of.value);
    side.states.push_back(of);
  }
  for (PastRead& read : side.reads)  // from the tape's number of the state to that among the equations'
    read.state = static_cast<int>(
        std::ranges::find(side.states, read.state,
                          [&](const RightSide::State& state) { return tape.at(state.value).index; }) -
        side.states.begin());
  side.output = tape.recorded().output;
  side.partials = record_partials(tape);
  side.program = tape.recorded();
  return side;
}

}  // namespace lagtape
