#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/ops/recurrence/equations/equation_scope.h"
#include "lagtape/ops/recurrence/equations/grammar.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"

namespace lagtape {

/// A value or a matrix (or one for each group), and where it begins. The value of a matrix, if any, is its factor: an
/// "ode" has no derived weights, so 0.1 * W @ y is 0.1 * (W @ y).
struct StepOperand {
  StepVar value;
  EquationSymbol* matrix = nullptr;
  EquationToken token;
  std::shared_ptr<const StepOperand> imaginary =
      {};  ///< the imaginary part of a complex value, whose real part the rest is
};

/// A parser of one line, by the grammar of equations.h, that records on the scope's tape.
class EquationParser : public EquationGrammar<EquationParser, StepOperand> {
 public:
  EquationParser(EquationScope& scope, EquationLine line);

  /// The name that an equation sets: all up to "=".
  EquationToken target();
  /// The rest of the line.
  StepVar expression();
  /// The value of an equation's name, real or complex.
  StepOperand statement();
  /// Reads "for NAME in A..B:", the beginning of a loop.
  struct Loop {
    EquationToken name;
    std::int64_t begin, end;
  };
  std::optional<Loop> loop();
  /// A value or an array of numbers. Throws InputError for a complex value.
  StepVar value_of(const StepOperand& operand) const;
  /// The rest of the line, a whole number made of numbers: at least 1.
  std::int64_t dimension();

 private:
  using Operand = StepOperand;
  friend class EquationGrammar<EquationParser, StepOperand>;

  Operand number(const EquationToken& token);
  Operand negated(const EquationToken& sign, const Operand& operand);
  Operand inverted(const EquationToken& word, const Operand& operand);
  /// A weight that is a matrix, times a number; nothing for anything else.
  std::optional<Operand> scaled(const Operand& left, const Operand& right);
  Operand combined(const EquationToken& sign, const Operand& left, const Operand& right);
  Operand named(const EquationToken& name);
  Operand called(const EquationToken& name);
  Operand enclosed(const EquationToken&, const Operand& operand) { return followed(operand); }

  /// The operand with what follows it: .T, [:k], [:, None].
  Operand followed(Operand operand);
  StepVar indexed(const EquationToken& at, StepVar value, const IndexedPart& part);
  Operand array(const EquationToken& at, const Shape& shape, const std::vector<double>& numbers);
  Operand transposed_of(const Operand& operand);
  Operand operand_of(const EquationToken& name);

  StepVar lagged(const EquationToken& name, const EquationSymbol& state);
  StepVar past_input(const EquationToken& at, StepVar index);
  /// The number of steps of an index into the past: 3 for h[-3], with the letter `example`.
  std::int64_t lag(const EquationToken& at, StepVar index, const char* example) const;
  // In continuous time (ode_equations.cpp): y(t - E), the rest of it after the opening bracket, and E of an argument t - E.
  StepVar past_value(const EquationToken& name, EquationSymbol& symbol);
  StepVar past_value(const EquationToken& name, const EquationSymbol& symbol, StepVar lag,
                     const EquationToken& at);
  struct PastIntegral {
    StepVar begin, end;
    std::int64_t points = 4;
    std::optional<StepVar> weights = {};
  };
  PastIntegral past_integral(const EquationToken& name);
  StepVar integrand(StepVar ago);
  StepVar integral(const EquationToken& name);
  std::optional<StepVar> value_ago(const EquationToken& name, const EquationSymbol& symbol);
  StepVar lag_in(const EquationToken& at, StepVar argument);
  std::int64_t largest_lag(const EquationToken& at, const std::string& name) const;
  StepVar trained_lag(const EquationToken& at, StepVar state, int weight);
  StepVar composed(const EquationToken& name, const ArrayFunction<StepVar>& function,
                   const std::vector<Operand>& values);
  /// A function of the cell itself.
  Operand own_function(const EquationToken& name, EquationFunction& function);
  Operand spiking(const EquationToken& name);
  Operand function_of_values(const EquationToken& name, const std::vector<Operand>& values);
  // Complex values (complex_values.cpp).
  static bool is_complex(const Operand& operand) { return operand.imaginary != nullptr; }
  static Operand complex_of(Operand real, const Operand& imaginary);
  /// The parts; the imaginary one of a real value is empty.
  static Operand real_of(Operand operand);
  Operand imaginary_of(const Operand& operand);
  /// The same value with parts of one shape.
  Operand aligned(const Operand& operand);
  Operand complex_combined(const EquationToken& sign, const Operand& left, const Operand& right);
  /// A function of complex values, or of parts; none where it is undefined for them.
  std::optional<Operand> complex_function(const EquationToken& name, const std::vector<Operand>& values);
  StepVar einsum_of(const EquationToken& name);
  StepVar concatenated(const EquationToken& name, std::vector<Operand> parts);
  StepVar draw(const EquationToken& name);
  RowShape shape_of(std::span<const Operand> dimensions) const;

  bool of_groups(const Operand& weight, StepVar v) const;
  std::span<const StepMatrix> matrices_of(const Operand& operand);
  Operand multiplied(const EquationToken& sign, const Operand& left, const Operand& right);
  /// Runs `record` and adds the place in the line to errors of the tape.
  template <class Record>
  StepVar record(const EquationToken& at, Record recorded) const {
    try {
      return recorded();
    } catch (const InputError& error) {
      fail(at, error.problems().front());
    }
  }
  double number_of(StepVar value, const EquationToken& at) const;
  std::int64_t whole(double size, const EquationToken& at, const char* what) const;
  std::int64_t whole(StepVar value, const EquationToken& at) const;
  std::int64_t whole(const Operand& operand) const { return whole(value_of(operand), operand.token); }
  double constant(const Operand& operand) const { return number_of(value_of(operand), operand.token); }
  std::int64_t size(StepVar value, const EquationToken& at) const;

  EquationSymbol& resolve(const EquationToken& name);

  EquationScope& scope_;
};

}  // namespace lagtape
