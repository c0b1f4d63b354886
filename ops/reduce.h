#pragma once

#include "lagtape/core/tape.h"

namespace lagtape {

// Reductions add in row-major order, in double, and round once. An axis may count from the end (-1 is the
// last); InputError when there is none. `keep` leaves the reduced axis with an extent of 1.

Var sum(const Var& x);  ///< The sum of all elements, a scalar; 0 when there are none.
Var sum(const Var& x, std::int64_t axis, bool keep = false);
Var mean(const Var& x);  ///< Throws InputError when there are no elements, as does the next function.
Var mean(const Var& x, std::int64_t axis, bool keep = false);

}  // namespace lagtape
