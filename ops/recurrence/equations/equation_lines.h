#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "lagtape/ops/recurrence/equations/equation_scope.h"
#include "lagtape/ops/recurrence/equations/step_parser.h"

namespace lagtape {

/// Reads the lines of a step or an `ode`, each with access to the names set by earlier lines.
class EquationLines {
 public:
  /// Reads an equation of a rate (dNAME = ...) whose target has been read; false if it is not one. Only in an
  /// `ode`.
  using ReadRate = std::function<bool(EquationParser&, const EquationToken& target)>;

  explicit EquationLines(EquationScope& scope, ReadRate read_rate = {})
      : scope_(scope), read_rate_(std::move(read_rate)) {}

  /// Reads a line: one equation, several in sequence, or a loop over several. Throws InputError, after which
  /// the names that the line sets count as failed, and FollowingError.
  void read(const EquationLine& line);
  /// Names the values of the step after their equations, for analysis. A name that is set twice refers to the
  /// last value.
  void name_values();

 private:
  void read_statement(EquationParser& parser, std::string& sets);
  void read_equation(EquationParser& parser, std::string& sets);
  void read_next(EquationParser& parser, const EquationToken& target, std::string& sets);

  EquationScope& scope_;
  ReadRate read_rate_;
  std::int64_t turns_ = 0;  // loop iterations so far
  int loops_ = 0;           // number of loops around the line
};

}  // namespace lagtape
