#include "lagtape/ops/recurrence/equations/ode_equations.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"

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

/// Throws unless a history consists of its time, weights, and numbers.
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

struct Quadrature {
  std::vector<double> at, weights;  ///< in [0, 1], with sum 1
};

/// Gauss-Legendre quadrature.
Quadrature gauss(std::int64_t points) {
  const auto n = static_cast<double>(points);
  Quadrature rule;
  for (std::int64_t i = points; i >= 1; --i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) - 0.25) / (n + 0.5)), slope = 0;
    for (int k = 0; k < 100; ++k) {  // Newton's method for a root of the polynomial
      double before = 1, value = x;
      for (double j = 2; j <= n; ++j)
        before = std::exchange(value, ((2 * j - 1) * x * value - (j - 1) * before) / j);
      slope = n * (x * value - before) / (x * x - 1);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) < 1e-15) break;
    }
    rule.at.push_back((1 + x) / 2);
    rule.weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

}  // namespace

void begin_time(EquationScope& scope, const EquationCell& cell) {
  scope.ode = TimeScope{.time = scope.tape.state("t", RowShape::scalar()),
                        .history_time = scope.tape.state("t of histories", RowShape::scalar())};
  scope.add("t", {.kind = Kind::time, .value = scope.ode->time});
  const std::string input = cell.input.empty() ? "x" : cell.input;
  if (input == "t")
    throw InputError({.pointer = "/input"}, Rule::conflict, "the name is taken; it is the time", quote(input),
                     "Call the input otherwise, such as u.");
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
  if (text == EquationCell::kObserved) return scope.tape.constant(0).id();
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
    of.is_observed = std::ranges::find(cell.history, std::pair(name, std::string(EquationCell::kObserved))) !=
                     cell.history.end();
    if (cell.has_rates) of.rate = record_rate(tape, of.slope, of.value);
    side.states.push_back(of);
  }
  for (PastRead& read : side.reads)  // from the tape's number of the state to its number in the equations
    read.state = static_cast<int>(
        std::ranges::find(side.states, read.state,
                          [&](const RightSide::State& state) { return tape.at(state.value).index; }) -
        side.states.begin());
  side.output = tape.recorded().output;
  side.partials = record_partials(tape);
  side.program = tape.recorded();
  return side;
}

// ---- Past values: y(t - E), dy(t - E) and integrals over the past ----

StepVar EquationParser::past_value(const EquationToken& name, EquationSymbol& symbol) {
  const EquationToken first = peek();
  const std::vector<StepOperand> values = arguments();
  check_count(name, values.size(), 1, 1);
  close(")");
  return past_value(name, symbol, lag_in(first, value_of(values.front())), first);
}

StepVar EquationParser::past_value(const EquationToken& name, const EquationSymbol& symbol, StepVar lag,
                                   const EquationToken& at) {
  StepTape& tape = scope_.tape;
  const bool slope = symbol.kind == EquationSymbol::Kind::slope;
  const EquationSymbol& state = slope ? *scope_.find(name.text.substr(1)) : symbol;
  if (lag.shape().rank > 0 && lag.shape().width() > 1)
    fail(at, text_of("the time of a past value is one number"), Rule::shape, to_string(lag.shape()));
  std::vector<PastRead>& reads = scope_.ode->reads;
  PastRead read{.state = tape.at(state.value.id()).index, .slope = slope, .lag = lag.id()};
  read.spread = scope_.ode->ago.has_value();
  for (const PastRead& known : reads)
    if (known.state == read.state && known.slope == slope && known.lag == read.lag)
      return tape.var(known.value);
  const StepVar value = tape.state(text_of(name.text, "(t - #", reads.size() + 1, ")"), state.value.shape());
  read.value = value.id();
  read.at = place_of(at);
  reads.push_back(std::move(read));
  return value;
}

StepVar EquationParser::lag_in(const EquationToken& at, StepVar argument) {
  StepTape& tape = scope_.tape;
  const StepVar time = scope_.ode->time;
  StepVar lag;  // the sum subtracted so far
  const auto take_away = [&](StepVar term, bool adds) {
    if (lag.id() < 0)
      lag = adds ? -term : term;
    else
      lag = adds ? lag - term : lag + term;
  };
  StepVar rest = argument;
  while (rest.id() != time.id()) {
    const Instruction v = tape.at(rest.id());
    if (v.op == StepOp::broadcast) {
      rest = tape.var(v.a);
      continue;
    }
    const bool adds = v.computes(ElementOp::add);
    if (!adds && !v.computes(ElementOp::subtract))
      fail(at, "a past value is read at t - E, as in y(t - tau), where E is how long ago");
    const bool swapped = adds && v.b == time.id();
    take_away(tape.var(swapped ? v.a : v.b), adds);
    rest = tape.var(swapped ? v.b : v.a);
  }
  if (lag.id() < 0) fail(at, "the state at t itself is written without (t)");
  if (tape.is_number(lag) && tape.at(lag.id()).value <= 0)
    fail(at, "a lag is above 0; the future is not known", Rule::out_of_range,
         text_of("t - ", tape.at(lag.id()).value));
  return lag;
}

/// The limits, points, and weights of an integral, which come after the integrand.
EquationParser::PastIntegral EquationParser::past_integral(const EquationToken& name) {
  constexpr std::int64_t kMostPoints = 64;
  PastIntegral of;
  for (StepVar* end : {&of.begin, &of.end}) {
    if (!take_sign(","))
      fail(name, "an integral reads integral(E, a, b): of E from a time a to a time b ago.");
    *end = value_of(sum());
  }
  bool is_given = false;
  while (take_sign(",")) {
    const EquationToken at = peek();
    if (take_keyword("points")) {
      of.points = whole(sum());
      is_given = true;
    } else if (take_keyword("weights")) {
      of.weights = value_of(sum());
      if (of.weights->shape().rank != 1) fail(at, "weights are a vector, one number a point", Rule::shape);
    } else {
      fail(at, "after its ends an integral has points = k and weights = w.");
    }
  }
  close(")");
  if (of.weights && !is_given) of.points = of.weights->shape().width();
  if (of.points < 1 || of.points > kMostPoints)
    fail(name, text_of("an integral has 1 to ", kMostPoints, " points"), Rule::out_of_range,
         text_of(of.points));
  if (of.weights && of.weights->shape().width() != of.points)
    fail(name, "weights are one number a point", Rule::shape,
         text_of(of.weights->shape().width(), " weights, ", of.points, " points"));
  return of;
}

/// The value of an integrand `ago` before the present.
StepVar EquationParser::integrand(StepVar ago) {
  struct Ago {
    Ago(EquationScope& scope, StepVar ago) : scope(scope) {
      using Kind = EquationSymbol::Kind;
      scope.open_locals(false);
      scope.ode->ago = ago;
      if (scope.find("s") == nullptr) scope.add_local("s", {.kind = Kind::time, .value = ago});
      scope.add_local("t", {.kind = Kind::time, .value = scope.ode->time - ago});
    }
    ~Ago() {
      scope.ode->ago.reset();
      scope.close_locals();
    }
    EquationScope& scope;
  };
  const Ago states(scope_, ago);
  const StepVar value = value_of(condition());
  if (!peek().is(",")) expected("','");
  return value;
}

/// (b - a) times the sum of g_i w_i E(t - s_i) at the Gauss points s_i in a .. b; E is reread for each point.
StepVar EquationParser::integral(const EquationToken& name) {
  if (!scope_.ode || scope_.ode->ago)
    fail(name, scope_.ode ? "there is no integral within an integral."
                          : "an integral over the past is of an \"ode\"; a step adds up h[-1], h[-2], ...");
  const std::size_t begin = position();
  for (int depth = 0; !at_end() && (depth > 0 || !(peek().is(",") || peek().is(")")));) {
    const EquationToken token = take();
    depth += token.is("(") || token.is("[") ? 1 : token.is(")") || token.is("]") ? -1 : 0;
  }
  const PastIntegral of = past_integral(name);
  const std::size_t end = position();
  const Quadrature rule = gauss(of.points);
  const StepVar width = of.end - of.begin;
  StepVar total;
  for (std::int64_t i = 0; i < of.points; ++i) {
    const auto at = static_cast<std::size_t>(i);
    rewind(begin);
    StepVar term = rule.weights[at] * integrand(of.begin + rule.at[at] * width);
    if (of.weights)
      term = record(name, [&] { return scope_.tape.sum(scope_.tape.slice(*of.weights, i, i + 1)) * term; });
    total = i == 0 ? term : total + term;
  }
  rewind(end);
  return record(name, [&] { return width * total; });
}

/// The meaning of a name in an integral, where states have past values; none: its usual meaning.
std::optional<StepVar> EquationParser::value_ago(const EquationToken& name, const EquationSymbol& symbol) {
  using Kind = EquationSymbol::Kind;
  if (!scope_.ode || !scope_.ode->ago) return {};
  if (symbol.kind == Kind::state || symbol.kind == Kind::slope)
    return past_value(name, symbol, *scope_.ode->ago, name);
  const bool varies =
      symbol.kind == Kind::input || (symbol.kind == Kind::equation && !symbol.bound &&
                                     !constant_values(scope_.tape.recorded())[symbol.value.id()]);
  if (varies)
    fail(name, text_of("an integral over the past is of states; '", name.text, "' is a value at t. ",
                       symbol.kind == Kind::input ? "Make a state of it: \"dv = (u - v) / e\"."
                                                  : "Write out what it is."));
  return {};
}

std::set<std::string> equation_function_names() {
  std::vector<std::string> names = step_function_names();
  std::ranges::copy(weight_function_names(), std::back_inserter(names));
  return {names.begin(), names.end()};
}

}  // namespace lagtape
