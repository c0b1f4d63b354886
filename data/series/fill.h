#pragma once

#include <span>

#include "lagtape/data/series/series_options.h"

namespace lagtape {

/// Replaces NaN in a segment of a column, in place. Before the first number and after the last, only one
/// neighbor exists. Returns false, and changes nothing, if there is no number at all.
bool fill_missing(std::span<double> column, Missing missing);

}  // namespace lagtape
