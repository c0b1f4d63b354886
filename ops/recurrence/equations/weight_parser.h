#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/tape.h"
#include "lagtape/ops/recurrence/equations/tokens.h"

namespace lagtape {

/// The names that a derived weight may use: numbers, and values by their position.
struct WeightScope {
  std::map<std::string, double, std::less<>> numbers;
  std::map<std::string, std::size_t, std::less<>> values;
  /// The limit on numbers of an intermediate result, so that a short line cannot need excessive memory.
  std::int64_t most_numbers = std::numeric_limits<std::int64_t>::max();
  std::set<std::string, std::less<>> failed = {};  ///< names whose own lines have errors
  bool lacks_names = false;                        ///< a line with an error set no name
  bool numpy = true;                               ///< false: grammar 1 (equations.h)
};

/// The value of a derived weight, by the grammar of equations.h, on the tape of `values`, at least one, in the scope's
/// order. `used`, when given, receives the names that occur in the line; then only the shape counts, and some functions
/// give other values. Throws InputError "derived 'A', column 5: ..." with the shapes that do not fit, and
/// FollowingError.
Var derive_weight(const EquationLine& line, const WeightScope& scope, std::span<const Var> values,
                  std::vector<std::string>* used = nullptr);

/// The names of the functions that a derived weight has.
std::vector<std::string> weight_function_names();

}  // namespace lagtape
