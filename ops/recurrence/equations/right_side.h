#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lagtape/core/problem.h"
#include "lagtape/ops/recurrence/step/step_program.h"

namespace lagtape {

class StepTape;
class StepVar;

/// A past value that a right-hand side reads: y(t - E), or the slope dy(t - E).
struct PastRead {
  int state = -1;       ///< its number; -1: the input
  bool slope = false;   ///< reads the derivative of the state instead of the state
  int value = -1;       ///< the value through which the program reads it
  int lag = -1;         ///< the value of E
  bool spread = false;  ///< one point of an integral, which smooths its integrand
  Place at = {};        ///< its place in the equations, for errors
};

/// The right-hand side of delay equations, dy/dt = f(t, y(t), y(t - E), u(t)), as a recorded step program. Its
/// states are those of the equations, followed by the time, the time of histories, and past values, which a
/// solver supplies (ops/delay). Values are in recording order: E comes before the read.
struct RightSide {
  /// The numbers of the values that are the derivatives with respect to a value's operands; -1: zero.
  struct Partials {
    int a = -1, b = -1;
  };
  struct State {
    int value = -1;            ///< the state at t
    int slope = -1;            ///< its derivative
    int rate = -1;             ///< r of a slope r * y + ..., for exponential_euler; -1: not needed
    int history = -1;          ///< its value at a time before 0, a scalar or of the state's shape
    int history_slope = -1;    ///< its derivative with respect to time; -1: zero
    bool is_observed = false;  ///< the solver's caller supplies its history
  };

  StepProgram program;             ///< not canonical
  std::vector<Partials> partials;  ///< one per value; zero if it has no derivative
  std::vector<State> states;
  std::vector<PastRead> reads;
  int time = -1, history_time = -1;  ///< values: t of the equations and of histories
  int output = -1;
};

/// Records the derivatives of all values with respect to their operands, at the end of the program.
std::vector<RightSide::Partials> record_partials(StepTape& tape);
/// Records the derivative of y with respect to a scalar; zero is represented by -1.
int record_derivative(StepTape& tape, int y, int by);
/// The factor r of y in a slope r * y + rest, where r depends on neither time nor states: the sum over its
/// terms. -1: none.
int record_rate(StepTape& tape, int slope, int y);

/// Whether the equations use the input, which the program always has.
bool reads_input(const RightSide& side);

/// For each value of a recorded program: whether it depends only on weights and numbers.
std::vector<bool> constant_values(const StepProgram& program);

}  // namespace lagtape
