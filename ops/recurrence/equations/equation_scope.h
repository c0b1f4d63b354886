#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/ops/recurrence/equations/derived_weight.h"
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
  std::string name = {};                  ///< for weights
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
  void declare(EquationSymbol& symbol);
  /// Adds a name whose own line has an error. Lines that read it throw FollowingError.
  void add_failed(const std::string& name);
  /// The transposed matrix as a derived weight, NAME.T.
  EquationSymbol& transposed(const std::string& name);
  /// The numbers of a weight of two or three axes as a value of the step, from a derived weight, NAME.values.
  StepVar values_of(const EquationSymbol& weight);
  /// The weights of these two kinds.
  const std::vector<DerivedWeight>& derived() const { return derived_; }
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
  std::vector<DerivedWeight> derived_;
  StepVar past_input_;
};

/// The names of the functions that a step has.
std::vector<std::string> step_function_names();

}  // namespace lagtape
