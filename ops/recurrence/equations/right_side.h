#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/core/problem.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

class StepTape;
class StepVar;

/// A value of the past that a right side reads: y(t - E), or the slope dy(t - E).
struct PastRead {
  int state = -1;       ///< its number; -1: the input
  bool slope = false;   ///< the derivative of the state instead of the state
  int value = -1;       ///< the value by which the program reads it
  int lag = -1;         ///< the value of E
  bool spread = false;  ///< one point of an integral, which smooths its integrand
  Place at = {};        ///< its place in the equations, for errors
};

/// The right side of delay equations, dy/dt = f(t, y(t), y(t - E), u(t)), as a recorded step program. Its states are
/// those of the equations, and after them the time, the time of histories and past values, which a solver gives
/// (ops/delay). Values are in the order of recording: E comes before the read.
struct RightSide {
  /// The numbers of the values that are the derivatives of a value's operands; -1: zero.
  struct Partials {
    int a = -1, b = -1;
  };
  struct State {
    int value = -1;            ///< the state at t
    int slope = -1;            ///< its derivative
    int rate = -1;             ///< r of a slope r * y + ..., for exponential_euler; -1: not needed
    int history = -1;          ///< its value at a time before 0, a scalar or of the state's shape
    int history_slope = -1;    ///< the derivative of that by time; -1: zero
    bool is_observed = false;  ///< the solver's caller gives its history
  };

  StepProgram program;             ///< not canonical
  std::vector<Partials> partials;  ///< one a value; zero where it has no derivative
  std::vector<State> states;
  std::vector<PastRead> reads;
  int time = -1, history_time = -1;  ///< values: t of the equations and of histories
  int output = -1;
};

/// Records the derivatives of all values by their operands, at the end of the program.
std::vector<RightSide::Partials> record_partials(StepTape& tape);
/// Records the derivative of y by a scalar; zero is the number -1.
int record_derivative(StepTape& tape, int y, int by);
/// The factor r of y in a slope r * y + rest, where r depends on neither time nor states: the sum over its terms. -1:
/// there is none.
int record_rate(StepTape& tape, int slope, int y);

/// Whether the equations use the input, which the program has in any case.
bool reads_input(const RightSide& side);

/// For each value of a recorded program: whether it depends on weights and numbers alone.
std::vector<bool> constant_values(const StepProgram& program);

}  // namespace lagtape
