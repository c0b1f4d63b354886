#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/ops/recurrence/equations/grammar.h"
#include "lagtape/ops/recurrence/equations/right_side.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

/// The meaning of a name in a cell.
struct EquationSymbol {
  enum class Kind {
    function,
    input,
    step_index,
    time,
    dimension,
    hyper,
    state,
    next,
    slope,
    weight,
    equation,
    failed
  };
  Kind kind = Kind::function;
  StepVar value = {};                     ///< for all but functions and matrices
  std::vector<StepMatrix> matrices = {};  ///< for matrices: one, or one for each group
  Shape shape = {};                       ///< for weights
  bool declared = true;                   ///< whether the tape has it: weights once an equation uses them
  bool used = false;
};

std::string description_of(EquationSymbol::Kind kind);  ///< "a weight", "the input"

/// What equations in continuous time have besides.
struct TimeScope {
  StepVar time, history_time;
  std::vector<PastRead> reads = {};
};

/// Everything that can be named in a cell, on its tape.
class EquationScope {
 public:
  /// A scope that contains the functions alone.
  explicit EquationScope(std::int64_t input);

  /// Adds a name, which must be free.
  void add(const std::string& name, EquationSymbol symbol);
  /// The symbol of that name; null when there is none.
  EquationSymbol* find(std::string_view name);
  /// Declares a weight on the tape, if it is not there yet.
  void declare(std::string_view name, EquationSymbol& symbol);
  /// Adds a name whose own line has an error. Lines that read it throw FollowingError.
  void add_failed(const std::string& name);
  /// The input so many steps before, which a state of the scope's own remembers.
  StepVar past_input(std::int64_t steps);
  /// The names in the order in which they were added, without functions.
  const std::vector<std::string>& added() const { return added_; }

  StepTape tape;
  std::optional<TimeScope> ode;                      ///< none: the equations are those of a step
  std::map<std::string, std::int64_t> largest_lags;  ///< the largest values of weights that are lags
  bool lacks_names = false;  ///< a line with an error set no name, so that an unknown one may be its

 private:
  std::map<std::string, EquationSymbol, std::less<>> symbols_;
  std::vector<std::string> added_;
  StepVar past_input_;
};

/// The names of the functions that a step has.
std::vector<std::string> step_function_names();

/// A value or a matrix (or one for each group), and where it begins.
struct StepOperand {
  StepVar value;
  const EquationSymbol* matrix = nullptr;
  EquationToken token;
};

/// A parser of one line, by the grammar of equations.h, that records on the scope's tape what it reads.
class EquationParser : public EquationGrammar<EquationParser, StepOperand> {
 public:
  EquationParser(EquationScope& scope, EquationLine line);

  /// The name that an equation sets: all up to "=".
  EquationToken target();
  /// The rest of the line.
  StepVar expression();
  /// The rest of the line, a whole number made of numbers: at least 1.
  std::int64_t dimension();

 private:
  using Operand = StepOperand;
  friend class EquationGrammar<EquationParser, StepOperand>;

  Operand number(const EquationToken& token);
  Operand negated(const EquationToken& sign, const Operand& operand);
  Operand combined(const EquationToken& sign, const Operand& left, const Operand& right);
  Operand named(const EquationToken& name);
  Operand called(const EquationToken& name);
  Operand enclosed(const EquationToken&, const Operand& operand) { return operand; }

  StepVar lagged(const EquationToken& name, const EquationSymbol& state);
  StepVar past_input(const EquationToken& at, StepVar index);
  /// The number of steps that an index goes back: 3 for h[-3], of which `example` is the letter.
  std::int64_t lag(const EquationToken& at, StepVar index, const char* example) const;
  StepVar trained_lag(const EquationToken& at, StepVar state, int weight);
  // In continuous time (past_reads.cpp): y(t - E), the rest of it after the opening bracket, and E of an argument t - E.
  StepVar past_value(const EquationToken& name, EquationSymbol& symbol);
  StepVar lag_in(const EquationToken& at, StepVar argument);
  StepVar composed(const EquationToken& name, const std::vector<Operand>& values);
  StepVar concatenated(const EquationToken& name, const std::vector<Operand>& parts);
  StepVar draw(const EquationToken& name);
  RowShape shape_of(std::span<const Operand> dimensions) const;

  Operand multiplied(const EquationToken& sign, const Operand& left, const Operand& right);
  template <class Record>
  StepVar record(const EquationToken& at, Record recorded) const;
  StepVar value_of(const Operand& operand) const;
  double number_of(StepVar value, const EquationToken& at) const;
  std::int64_t whole(double size, const EquationToken& at, const char* what) const;
  std::int64_t whole(StepVar value, const EquationToken& at) const;
  std::int64_t size(StepVar value, const EquationToken& at) const;

  EquationSymbol& resolve(const EquationToken& name);

  EquationScope& scope_;
};

}  // namespace lagtape
