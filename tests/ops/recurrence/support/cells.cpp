#include "lagtape/tests/ops/recurrence/support/cells.h"

#include "lagtape/ops/recurrence/step/step_tape.h"

#include "lagtape/cells/delay_gru.h"
#include "lagtape/cells/layers/linear.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/equations/equations.h"

namespace lagtape::test {
namespace {

/// The parts of a text such as "W1 [units, input]".
EquationCell::Named named_shape(const std::string& text) {
  const std::size_t space = text.find(' ');
  EquationCell::Named named{text.substr(0, space), {}};
  std::string dimension;
  for (const char c : text.substr(space + 1)) {
    if (c == ',' || c == ']') {
      if (!dimension.empty()) named.shape.push_back(dimension);
      dimension.clear();
    } else if (c != '[' && c != ' ') {
      dimension += c;
    }
  }
  return named;
}

}  // namespace

StepProgram tau_gru(std::int64_t units, std::int64_t input, std::int64_t tau) {
  TauGru cell;
  cell.units = units;
  cell.tau = {static_cast<double>(tau)};
  return cell.build(input).program;
}

StepProgram delay_gru(std::int64_t units, std::int64_t input, std::int64_t tau) {
  DelayGru cell;
  cell.units = units;
  cell.tau = tau;
  return cell.build(input).program;
}

StepProgram lstm(std::int64_t units, std::int64_t input) { return Lstm{units}.build(input).program; }

StepProgram linear_readout(std::int64_t input, std::int64_t outputs) {
  Linear layer;
  layer.units = outputs;
  return layer.build(input).program;
}

StepProgram equations(std::int64_t units, std::int64_t input, const std::vector<std::string>& weights,
                      const std::vector<std::string>& step, const std::string& output) {
  return equations_of(units, input, {"h [units]"}, weights, {}, step, output);
}

StepProgram equations_of(std::int64_t units, std::int64_t input, const std::vector<std::string>& states,
                         const std::vector<std::string>& weights, const std::vector<std::string>& lags,
                         const std::vector<std::string>& step, const std::string& output) {
  EquationCell cell;
  for (const std::string& state : states) cell.states.push_back(named_shape(state));
  for (const std::string& weight : weights) cell.weights.push_back(named_shape(weight));
  for (const std::string& lag : lags)
    cell.lags.emplace_back(lag.substr(0, lag.find(' ')), lag.substr(lag.rfind(' ') + 1));
  cell.step = step;
  cell.output = output;
  return compile_equations(cell, units, input);
}

StepProgram two_states(std::int64_t units, std::int64_t input, std::int64_t first_lag,
                       std::int64_t second_lag) {
  return equations_of(units, input, {"z [units]", "y [3]"},
                      {"A [units, units]", "B [units, units]", "C [3, units]", "D [3, 3]", "E [units, 3]",
                       "U [units, input]", "V [3, input]", "b [units]", "F [2, 3]"},
                      {},
                      {text_of("k = tanh(A @ z + B @ z[-", first_lag, "] + U @ x + b)"),
                       text_of("z' = 0.5 * z + 0.5 * k + 0.1 * sin(E @ y[-", second_lag, "])"),
                       "y' = tanh(C @ z' + D @ y + V @ x)", "o = F @ y' * 2"},
                      "o");
}

StepProgram oscillators(std::int64_t units, std::int64_t input) {
  StepTape tape(input);
  const StepVar y = tape.state("y", RowShape::vector(units), Arithmetic::grid);
  const StepVar z = tape.state("z", RowShape::vector(units), Arithmetic::grid);
  const StepVar w = tape.vector("w", units), s = tape.vector("s", units);
  const StepVar next_z = z - s * (tanh(w * y + product(tape.matrix("V", units, input), tape.input())) + y);
  const StepVar next_y = y + s * next_z;
  tape.set_next(z, next_z);
  tape.set_next(y, next_y);
  tape.set_output(next_y);
  return tape.finish();
}

}  // namespace lagtape::test
