#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/ops/recurrence/equations/derived_weight.h"
#include "lagtape/ops/recurrence/equations/grammar.h"
#include "lagtape/ops/recurrence/equations/right_side.h"
#include "lagtape/ops/recurrence/step/step_tape.h"

namespace lagtape {

struct StepOperand;

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
  StepVar value = {};                     ///< for all except functions and matrices
  std::vector<StepMatrix> matrices = {};  ///< for matrices: one, or one per group
  Shape shape = {};                       ///< for weights
  std::string name = {};                  ///< for weights
  bool declared = true;                   ///< whether the tape has it: weights, once an equation uses them
  bool used = false;
  bool param = false;  ///< a weight that is a param
  std::shared_ptr<const StepOperand> bound =
      {};  ///< for arguments of functions and complex values: its meaning
};

std::string description_of(EquationSymbol::Kind kind);  ///< "a weight", "the input"
std::string description_of(const EquationSymbol& symbol);

/// Additional parts of equations in continuous time.
struct TimeScope {
  StepVar time, history_time;
  std::optional<StepVar> ago = {};  ///< the age of the states that an integral reads
  std::vector<PastRead> reads = {};
};

/// All names of a cell, on its tape.
class EquationScope {
 public:
  /// A scope that contains only the functions.
  explicit EquationScope(std::int64_t input);

  /// Adds a name, or changes its meaning, as a loop does.
  void add(const std::string& name, EquationSymbol symbol);
  /// Names that hide others until they are closed: arguments of a function, whose lines do not see its caller's
  /// names, or a loop variable.
  void open_locals(bool of_function) { locals_.push_back({of_function, {}}); }
  void add_local(const std::string& name, EquationSymbol symbol);
  void close_locals() { locals_.pop_back(); }
  bool in_function() const { return !locals_.empty() && locals_.back().of_function; }
  /// The symbol with that name; null if there is none.
  EquationSymbol* find(std::string_view name);
  /// Declares a weight on the tape, if it is not yet declared.
  void declare(EquationSymbol& symbol);
  /// Adds a name whose own line has an error. Lines that read it throw FollowingError.
  void add_failed(const std::string& name);
  /// The transposed matrix as a derived weight, NAME.T.
  EquationSymbol& transposed(const std::string& name);
  /// The product of two matrices as a derived weight, (A @ B).
  EquationSymbol& product(const EquationSymbol& a, const EquationSymbol& b);
  /// The numbers of a weight with two or three axes as a value of the step, from a derived weight, NAME.values.
  StepVar values_of(const EquationSymbol& weight);
  /// Throws InputError for weights that equations read but that reach neither a next value nor the output of
  /// the finished program, even through weights derived from them.
  void check_reached(const StepProgram& program, const std::vector<DerivedWeight>& derived);
  /// The derived weights.
  const std::vector<DerivedWeight>& derived() const { return derived_; }
  /// The input that many steps ago, from a state of the scope.
  StepVar past_input(std::int64_t steps);
  /// The input `theta` steps ago, for a weight of that name between 0 and `largest`: interpolated, with its
  /// gradient.
  StepVar past_input(const std::string& name, StepVar theta, std::int64_t largest);
  std::map<std::string, std::int64_t>
      input_lags;  ///< the weights that are lags of the input, with their largest values
  /// Numbers as an array of the step, from a derived weight, or from single numbers in a cell without weights.
  StepVar array(const Shape& shape, const std::vector<double>& numbers);
  /// The names in the order in which they were added, without functions.
  const std::vector<std::string>& added() const { return added_; }

  StepTape tape;
  StepVar x;  ///< the input, without columns that a cell reads by other names
  std::map<std::string, EquationFunction, std::less<>> functions;
  std::vector<const EquationFunction*> calls;  ///< of those whose lines are being read, outermost first
  std::set<std::string, std::less<>> used_functions;
  std::string
      first_weight;  ///< a weight whose tape and precision are used by derived weights without operands; empty: none
  std::optional<TimeScope> ode;                      ///< none: the equations define a step
  std::map<std::string, std::int64_t> largest_lags;  ///< the largest values of weights that are lags
  bool lacks_names = false;  ///< a line with an error set no name, so an unknown one may belong to it

 private:
  std::map<std::string, EquationSymbol, std::less<>> symbols_;
  struct Locals {
    bool of_function;
    std::map<std::string, EquationSymbol, std::less<>> symbols;
  };
  std::vector<Locals> locals_;
  std::vector<std::string> added_;
  std::vector<DerivedWeight> derived_;
  StepVar past_input_;
  int arrays_ = 0;
};

/// The names of the functions that a step has.
std::vector<std::string> step_function_names();

}  // namespace lagtape
