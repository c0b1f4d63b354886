#pragma once

#include <optional>
#include <string_view>

namespace lagtape {

/// The number that a whole text is: digits with a sign, a decimal point and an exponent, "inf" or "nan". NaN where T
/// does not hold it; nothing for other texts.
template <class T = double>
std::optional<T> parse_number(std::string_view text, char decimal = '.');

/// Whether a text is a number with separators of thousands, such as 1,000.50, 1 000 or 1'000.
bool has_thousands(std::string_view text, char decimal);

/// Whether a cell means that a number is missing: nothing, "NA", "NaN", "null", "-", "?" and the like.
bool is_missing(std::string_view cell);

}  // namespace lagtape
