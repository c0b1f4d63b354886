#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "lagtape/ops/recurrence/equations/equation_scope.h"
#include "lagtape/ops/recurrence/equations/step_parser.h"

namespace lagtape {

/// Reads the lines of a step or of an `ode`, each onto what the ones before it have set.
class EquationLines {
 public:
  /// Reads an equation of a rate (dNAME = ...) whose target is taken; false where it is none. Of an `ode` alone.
  using ReadRate = std::function<bool(EquationParser&, const EquationToken& target)>;

  explicit EquationLines(EquationScope& scope, ReadRate read_rate = {})
      : scope_(scope), read_rate_(std::move(read_rate)) {}

  /// Reads a line: one equation, several one after the other, or a loop of some. Throws InputError, after which the names
  /// that the line sets count as failed, and FollowingError.
  void read(const EquationLine& line);
  /// Gives the values of the step the names that its equations set, for analysis. A name that is set twice is of the last.
  void name_values();

 private:
  void read_statement(EquationParser& parser, std::string& sets);
  void read_equation(EquationParser& parser, std::string& sets);
  void read_next(EquationParser& parser, const EquationToken& target, std::string& sets);

  EquationScope& scope_;
  ReadRate read_rate_;
  std::int64_t turns_ = 0;  // of the loops so far
  int loops_ = 0;           // within how many loops the line is read
};

}  // namespace lagtape
