#include "lagtape/ops/recurrence/equations/equation_lines.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lagtape/core/error.h"

namespace lagtape {
namespace {

using Kind = EquationSymbol::Kind;

constexpr std::int64_t kMostTurns = 1 << 14;

/// A loop variable, while one iteration is read.
struct Turn {
  Turn(EquationScope& scope, const std::string& name, std::int64_t k) : scope(scope) {
    scope.open_locals(false);
    scope.add_local(name, {.kind = Kind::hyper, .value = scope.tape.constant(static_cast<double>(k))});
  }
  ~Turn() { scope.close_locals(); }
  EquationScope& scope;
};

std::vector<std::string> states_of(EquationScope& scope) {
  std::vector<std::string> names;
  for (const std::string& name : scope.added())
    if (scope.find(name)->kind == Kind::state) names.push_back(name);
  return names;
}

}  // namespace

void EquationLines::read(const EquationLine& line) {
  std::string sets;  // the name, once the line is known to set one
  try {
    EquationParser parser(scope_, line);
    do read_statement(parser, sets);
    while (!parser.at_end());
  } catch (...) {
    if (sets.empty()) {
      scope_.lacks_names = true;
    } else {
      scope_.add_failed(sets);
    }
    throw;
  }
}

void EquationLines::read_statement(EquationParser& parser, std::string& sets) {
  const std::optional<EquationParser::Loop> loop = parser.loop();
  if (!loop) return read_equation(parser, sets);
  const std::string name(loop->name.text);
  if (const EquationSymbol* taken = scope_.find(name))
    parser.fail(loop->name, text_of("the name '", name, "' is taken: it is ", description_of(*taken), "."),
                Rule::conflict);
  turns_ += loop->end - loop->begin;
  if (turns_ > kMostTurns)
    parser.fail(loop->name, text_of("the loops of a step have at most ", kMostTurns, " turns together"),
                Rule::out_of_range, text_of(turns_));
  const std::size_t body = parser.position();
  for (std::int64_t k = loop->begin; k < loop->end; ++k) {
    const Turn turn(scope_, name, k);
    parser.rewind(body);
    ++loops_;
    do read_statement(parser, sets);
    while (!parser.at_end());
    --loops_;
  }
}

void EquationLines::read_equation(EquationParser& parser, std::string& sets) {
  const EquationToken target = parser.target();
  const std::string name(target.text);
  if (read_rate_ && read_rate_(parser, target)) return;
  if (name.back() == '\'') {
    read_next(parser, target, sets);
    return;
  }
  const EquationSymbol* taken = scope_.find(name);
  if (taken != nullptr && !(loops_ > 0 && taken->kind == Kind::equation)) {
    parser.fail(target,
                taken->kind == Kind::state
                    ? text_of("'", name, "' is the state before the step; its next value is ", name, "'.")
                    : text_of("the name '", name, "' is taken: it is ", description_of(*taken), "."),
                Rule::conflict);
  }
  sets = name;
  const StepOperand value = parser.statement();
  EquationSymbol symbol{.kind = Kind::equation, .value = value.value};
  if (value.imaginary) symbol.bound = std::make_shared<StepOperand>(value);
  scope_.add(name, std::move(symbol));
}

void EquationLines::name_values() {
  for (const std::string& name : scope_.added()) {
    const EquationSymbol& symbol = *scope_.find(name);
    if (symbol.kind == Kind::equation && !symbol.bound) scope_.tape.name(name, symbol.value);
  }
}

void EquationLines::read_next(EquationParser& parser, const EquationToken& target, std::string& sets) {
  const std::string name(target.text), state_name = name.substr(0, name.size() - 1);
  if (scope_.find(name))
    parser.fail(target,
                loops_ > 0 ? text_of(name,
                                     " is set at each turn of a loop, whose body is the rest of its text; "
                                     "begin another text of the list for it.")
                           : text_of(name, " is set twice."),
                Rule::conflict);
  const EquationSymbol* state = scope_.find(state_name);
  const bool has_failed = state && state->kind == Kind::failed;
  if (has_failed || (state && state->kind == Kind::state)) sets = name;
  if (has_failed || (scope_.lacks_names && (!state || state->kind != Kind::state))) throw FollowingError();
  if (!state || state->kind != Kind::state) {
    parser.fail(target, unknown_name("state", state_name, states_of(scope_)));
  }
  StepVar value = parser.value_of(parser.statement());
  try {
    const RowShape &shape = value.shape(), &wanted = state->value.shape();
    if (!scope_.tape.is_number(value) && shape.rank < wanted.rank && shape.width() == wanted.width())
      value = scope_.tape.expand(value, wanted.axes());  // [] and [1]
    scope_.tape.set_next(state->value, value);
  } catch (const InputError& error) {
    parser.fail(target, error.problems().front());
  }
  scope_.add(name, {.kind = Kind::next, .value = value});
}

}  // namespace lagtape
