#pragma once

#include <cstdint>
#include <string>

#include "lagtape/core/json/options.h"
#include "lagtape/ops/recurrence/equations/equations.h"

namespace lagtape {

/// The histories of a cell in continuous time, one for each state: a number or an expression of t and params;
/// "observed", from the data; "train", an additional param, or with {"train": true, "knots": k} one for each
/// knot of a natural cubic spline over the window.
extern const OptionKindOf<EquationCell> kHistories;

/// The expression for a spline with so many knots, evenly spaced from -window to 0, whose values there are the
/// numbers of `param`.
std::string spline_expression(const std::string& param, std::int64_t knots, double window);

}  // namespace lagtape
