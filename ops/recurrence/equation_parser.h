#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/ops/recurrence/equation_tokens.h"
#include "lagtape/ops/recurrence/step_tape.h"

namespace lagtape {

// Internal: a detail of equations.cpp.

/// What a name of a cell stands for.
struct EquationSymbol {
  enum class Kind { function, input, step_index, dimension, hyper, state, next, weight, equation };
  Kind kind = Kind::function;
  StepVar value = {};                     ///< of all but functions and matrices
  std::optional<StepMatrix> matrix = {};  ///< of matrices
  bool used = false;
};

std::string description_of(EquationSymbol::Kind kind);  ///< "a weight", "the input"

/// Everything that can be named in a cell, on its tape.
class EquationScope {
 public:
  /// Knows the functions.
  explicit EquationScope(std::int64_t input);

  /// The name must be free.
  void add(const std::string& name, EquationSymbol symbol);
  /// Null when there is none.
  EquationSymbol* find(std::string_view name);
  /// In the order in which they were added; functions are not among them.
  const std::vector<std::string>& added() const { return added_; }

  StepTape tape;
  std::map<std::string, std::int64_t> largest_lags;  ///< of weights that are lags

 private:
  std::map<std::string, EquationSymbol, std::less<>> symbols_;
  std::vector<std::string> added_;
};

/// A recursive-descent parser of one line, by the grammar of equations.h, that records on the scope's tape
/// what it reads.
class EquationParser {
 public:
  EquationParser(EquationScope& scope, EquationLine line);

  /// The name that an equation sets: all up to "=".
  EquationToken target();
  /// The rest of the line.
  StepVar expression();
  /// The rest of the line, a whole number made of numbers: at least 1.
  std::int64_t dimension();
  [[noreturn]] void fail(const EquationToken& at, const std::string& message) const;

 private:
  /// A value or a matrix, and where it begins.
  struct Operand {
    StepVar value;
    const StepMatrix* matrix = nullptr;
    EquationToken token;
  };

  Operand sum();
  Operand term();
  Operand factor();
  Operand factor_from(const EquationToken& token);
  StepVar lagged(const EquationToken& name, const EquationSymbol& state);
  StepVar trained_lag(const EquationToken& at, StepVar state, int weight);

  StepVar call(const EquationToken& name);
  StepVar call_draw(const EquationToken& name);
  std::vector<Operand> arguments();
  void check_count(const EquationToken& name, std::size_t count, std::size_t least, std::size_t most) const;
  RowShape shape_of(std::span<const Operand> dimensions) const;

  Operand combine(StepOp op, const EquationToken& sign, const Operand& left, const Operand& right);
  Operand multiply(const EquationToken& sign, const Operand& left, const Operand& right);
  template <class Record>
  StepVar record(const EquationToken& at, Record recorded) const;
  StepVar value_of(const Operand& operand) const;
  double number(StepVar value, const EquationToken& at) const;
  std::int64_t whole(StepVar value, const EquationToken& at) const;
  std::int64_t size(StepVar value, const EquationToken& at) const;

  EquationSymbol& resolve(const EquationToken& name);
  const EquationToken& peek() const { return tokens_[next_]; }
  EquationToken take();
  bool take_sign(std::string_view sign);
  void close(std::string_view bracket);
  [[noreturn]] void expected(const std::string& what) const;

  EquationScope& scope_;
  EquationLine line_;
  std::vector<EquationToken> tokens_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

}  // namespace lagtape
