#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/step_parser.h"

namespace lagtape {

StepVar EquationParser::past_value(const EquationToken& name, EquationSymbol& symbol) {
  const EquationToken first = peek();
  const std::vector<StepOperand> values = arguments();
  check_count(name, values.size(), 1, 1);
  close(")");
  StepTape& tape = scope_.tape;
  const bool slope = symbol.kind == EquationSymbol::Kind::slope;
  const EquationSymbol& state = slope ? *scope_.find(name.text.substr(1)) : symbol;
  const StepVar lag = lag_in(first, value_of(values.front()));
  if (lag.shape().rank > 0 && lag.shape().width() > 1)
    fail(first, text_of("the time of a past value is one number"), Rule::shape, to_string(lag.shape()));
  std::vector<PastRead>& reads = scope_.ode->reads;
  PastRead read{.state = tape.at(state.value.id()).index, .slope = slope, .lag = lag.id()};
  for (const PastRead& known : reads)
    if (known.state == read.state && known.slope == slope && known.lag == read.lag)
      return tape.var(known.value);
  const StepVar value = tape.state(text_of(name.text, "(t - #", reads.size() + 1, ")"), state.value.shape());
  read.value = value.id();
  read.at = place_of(first);
  reads.push_back(std::move(read));
  return value;
}

StepVar EquationParser::lag_in(const EquationToken& at, StepVar argument) {
  StepTape& tape = scope_.tape;
  const StepVar time = scope_.ode->time;
  StepVar lag;  // the sum of what is taken away so far
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

}  // namespace lagtape
