#pragma once

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/core/linear_term.h"

namespace lagtape {

// The parameters of a linear term: A [targets, features] and c [targets], which no gradient changes. They are
// zeros until they are fitted. The names start with the prefix of the first layer.
inline constexpr const char* kLinearWeights = "linear_A";
inline constexpr const char* kLinearConstant = "linear_c";

/// Adds a linear term to a model: y = W h + W.bias + A [x, past of x] + c, for every quantile of a target, or
/// its mean. The first layer remembers the past of x and computes the term, and every layer passes it on next
/// to its own output, so all code that runs or writes the layers includes it. The read-out starts with zeros
/// unless `init` is set, so the model initially equals the term. Throws InputError for layers that are not
/// per-step and for inputs that do not exist.
void add_linear_term(const LinearTerm& term, FittedModel& model);

}  // namespace lagtape
