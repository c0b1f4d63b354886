#pragma once

#include <map>
#include <string>

#include "lagtape/ops/recurrence/equations/equations.h"
#include "lagtape/ops/recurrence/equations/step_parser.h"

namespace lagtape {

// The parts of a cell in continuous time, in reading order. Errors are InputErrors.

/// Adds the time and the input to the scope.
void begin_time(EquationScope& scope, const EquationCell& cell);
/// Adds the name of a state's derivative, which no equation has set yet.
void add_slope(EquationScope& scope, const std::string& state);
/// Reads the rest of an equation that sets a derivative. Returns false, having read nothing, for one that sets
/// another name.
bool read_slope(EquationScope& scope, EquationParser& parser, const EquationToken& target);
/// Reads the history of a state; returns its value.
int read_history(EquationScope& scope, const std::string& state, const std::string& text);
/// Throws unless an equation has set a state's derivative and the state has a history.
void check_state(EquationScope& scope, const std::string& state, const std::map<std::string, int>& histories);
/// The right-hand side, once everything is read; histories are keyed by the names of their states.
RightSide right_side_of(EquationScope& scope, const EquationCell& cell,
                        const std::map<std::string, int>& histories);

}  // namespace lagtape
