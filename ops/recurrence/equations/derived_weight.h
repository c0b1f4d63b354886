#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/tape.h"

namespace lagtape {

/// A weight of the step that is a function of other weights, computed on the outer tape once per batch, so the
/// step sees a plain matrix, vector, or scalar.
struct DerivedWeight {
  std::string name;
  std::vector<std::string> of;  ///< free weights, and derived weights before this one; at least one
  std::function<Var(std::span<const Var> of)> value;
};

/// Numbers as an array, on the tape and in the precision of `like`.
Var array_of(const Var& like, const Shape& shape, const std::vector<double>& numbers);

}  // namespace lagtape
