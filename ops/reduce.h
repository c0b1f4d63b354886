#pragma once

#include "lagtape/core/tape.h"

namespace lagtape {

// Reductions add in row-major order, in double, and round once. An axis can count from the end (-1 is the
// last); InputError if there is none. `keep` keeps the reduced axis with an extent of 1.

Var sum(const Var& x);  ///< The sum of all elements, a scalar; 0 if there are none.
Var sum(const Var& x, std::int64_t axis, bool keep = false);
Var mean(const Var& x);  ///< Throws InputError if there are no elements, as does the next function.
Var mean(const Var& x, std::int64_t axis, bool keep = false);

}  // namespace lagtape
