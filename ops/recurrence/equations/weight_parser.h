#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/tape.h"
#include "lagtape/ops/recurrence/equations/grammar.h"

namespace lagtape {

/// The names that a derived weight can use: numbers, and values by position.
struct WeightScope {
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, std::size_t, std::less<>> values;
  /// The limit on the size of an intermediate result, so that a short line cannot need excessive memory.
  std::int64_t most_numbers = std::numeric_limits<std::int64_t>::max();
  std::set<std::string, std::less<>> failed = {};                       ///< names whose own lines have errors
  bool lacks_names = false;                                             ///< a line with an error set no name
  bool numpy = true;                                                    ///< false: grammar 1 (equations.h)
  std::map<std::string, EquationFunction, std::less<>> functions = {};  ///< the cell's own functions
};

/// A number, or a tensor.
struct WeightOperand {
  std::optional<double> number;
  Var var;
  EquationToken token;
  std::shared_ptr<const WeightOperand> imaginary = {};  ///< of a complex value; the rest is the real part
};

/// The active calls of the cell's own functions, outermost first, with the meanings of their names.
struct WeightCalls {
  std::vector<const EquationFunction*> functions = {};
  std::vector<std::map<std::string, WeightOperand, std::less<>>> locals = {};
};

/// The value of a derived weight, by the grammar of equations.h, on the tape of `values` (at least one), which
/// are in the order given by the scope. If `used` is given, it receives the names that occur in the line; then
/// only the shape is meaningful, since some functions are not evaluated. Throws InputError "derived 'A', column
/// 5: ..." with the shapes that do not fit, and FollowingError.
Var derive_weight(const EquationLine& line, const WeightScope& scope, std::span<const Var> values,
                  std::vector<std::string>* used = nullptr);

}  // namespace lagtape
