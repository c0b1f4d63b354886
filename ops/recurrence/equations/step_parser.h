#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/ops/recurrence/equations/complex_values.h"
#include "lagtape/ops/recurrence/equations/equation_scope.h"
#include "lagtape/ops/recurrence/equations/step_functions.h"
#include "lagtape/ops/recurrence/step/gradient_paths.h"

namespace lagtape {

/// A value or a matrix (or one per group), and where it starts. The value of a matrix, if any, is its factor:
/// an "ode" has no derived weights, so 0.1 * W @ y is 0.1 * (W @ y).
struct StepOperand {
  StepVar value;
  EquationSymbol* matrix = nullptr;
  EquationToken token;
  std::shared_ptr<const StepOperand> imaginary =
      {};  ///< the imaginary part of a complex value; the rest is the real part
};

/// A parser of one line, by the grammar of equations.h, that records what it reads on the scope's tape.
class EquationParser : public ComplexGrammar<EquationParser, StepOperand> {
 public:
  EquationParser(EquationScope& scope, EquationLine line);

  /// The rest of the line.
  StepVar expression();
  /// The value of an equation's name, real or complex.
  StepOperand statement();
  /// Reads "for NAME in A..B:", the start of a loop.
  struct Loop {
    EquationToken name;
    std::int64_t begin, end;
  };
  std::optional<Loop> loop();
  /// A value or an array of numbers. Throws InputError for a complex value.
  StepVar value_of(const StepOperand& operand) const;
  /// The rest of the line, a whole number composed of numbers: at least 1.
  std::int64_t dimension();

 private:
  using Operand = StepOperand;
  friend class EquationGrammar<EquationParser, StepOperand>;
  friend class ComplexGrammar<EquationParser, StepOperand>;

  Operand number_operand(double value, const EquationToken& token) {
    return {scope_.tape.constant(value), nullptr, token};
  }
  Operand real_negated(const EquationToken& sign, const Operand& operand);
  Operand inverted(const EquationToken& word, const Operand& operand);
  /// A weight that is a matrix, times a number; nothing for anything else.
  std::optional<Operand> scaled(const Operand& left, const Operand& right);
  Operand real_combined(const EquationToken& sign, const Operand& left, const Operand& right);
  Operand named(const EquationToken& name);
  Operand called(const EquationToken& name);
  Operand enclosed(const EquationToken&, const Operand& operand) { return followed(operand); }

  Shape axes_of(const Operand& operand) const {
    return operand.matrix != nullptr ? operand.matrix->shape : operand.value.shape().axes();
  }
  bool is_numpy() const { return scope_.tape.spreading() == StepTape::Spreading::numpy; }
  Operand expanded(const Operand& operand, const Shape& shape) const;
  Operand part_of(const EquationToken& at, const Operand& operand, const IndexedPart& part) {
    return {indexed(at, value_of(operand), part), nullptr, operand.token};
  }
  std::optional<double> known_number(const Operand& operand) const;
  StepVar indexed(const EquationToken& at, StepVar value, const IndexedPart& part);
  Operand array(const EquationToken& at, const Shape& shape, const std::vector<double>& numbers);
  Operand transposed_of(const Operand& operand);
  Operand operand_of(const EquationToken& name);

  StepVar lagged(const EquationToken& name, const EquationSymbol& state);
  StepVar past_input(const EquationToken& at, StepVar index);
  /// The number of steps in an index into the past: 3 for h[-3], with the letter `example`.
  std::int64_t lag(const EquationToken& at, StepVar index, const char* example) const;
  // In continuous time (ode_equations.cpp): the rest of y(t - E) after the opening bracket, and E of an
  // argument t - E.
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
  // Calls of the cell's own functions.
  const std::vector<const EquationFunction*>& calls() const { return scope_.calls; }
  void open_call(const EquationFunction& function);
  void close_call();
  void bind(const std::string& name, const Operand& value);
  EquationParser within(EquationLine line) { return EquationParser(scope_, std::move(line)); }
  Operand spiking(const EquationToken& name);
  Operand function_of_values(const EquationToken& name, const std::vector<Operand>& values);
  Operand einsum_of(const EquationToken& name, std::string_view letters,
                    const std::vector<Operand>& operands) const;
  StepVar concatenated(const EquationToken& name, std::vector<Operand> parts);
  StepVar draw(const EquationToken& name);
  StepVar array_called(const EquationToken& name, const std::vector<Operand>& sizes);
  RowShape shape_of(std::span<const Operand> dimensions) const;

  bool of_groups(const Operand& weight, StepVar v) const;
  std::span<const StepMatrix> matrices_of(const Operand& operand);
  Operand multiplied(const EquationToken& sign, const Operand& left, const Operand& right);
  /// Runs `record` and adds the position in the line to errors from the tape.
  template <class Record>
  StepVar record(const EquationToken& at, Record recorded) const {
    const std::size_t before = scope_.tape.recorded().values.size();
    try {
      const StepVar value = recorded();
      for (std::size_t i = before; i < scope_.tape.recorded().values.size(); ++i)
        if (!passes_gradient(scope_.tape.recorded().values[i]))
          scope_.tape.name(name_of_end(text_of_place(at), static_cast<int>(i)),
                           scope_.tape.var(static_cast<int>(i)));
      return value;
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
