#pragma once

#include <string>

#include "lagtape/core/normalization.h"

namespace lagtape {

/// A JSON object with four arrays, every number with all its digits.
std::string json_of(const Normalization& normalization);
/// Reads such an object. Throws InputError that starts with `where`.
Normalization normalization_from(const std::string& json, const std::string& where);

/// The normalizations of many series, each with only the columns that differ from `all`.
std::string json_of(const SeriesNormalizations& series, const Normalization& all);
SeriesNormalizations series_normalizations_from(const std::string& json, const Normalization& all,
                                                const std::string& where);

}  // namespace lagtape
