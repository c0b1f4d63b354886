#pragma once

#include "lagtape/core/tape.h"

namespace lagtape {

// Matrices for derived weights. The constant ones belong to the tape of `like` and have its dtype.

Var identity(const Var& like, std::int64_t n);  ///< [n, n]
Var arange(const Var& like, std::int64_t n);    ///< [n], 0, 1, .., n - 1

/// The strictly upper triangular matrix [n, n] with the n (n - 1) / 2 numbers of v in its rows, from the top.
/// Throws InputError if v has a different number of elements.
Var strict_upper(const Var& v, std::int64_t n);

}  // namespace lagtape
