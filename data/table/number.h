#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lagtape {

inline constexpr std::string_view kMinusSign =
    "\xE2\x88\x92";  ///< U+2212, as used by web pages and word processors

/// The number in a whole text: digits with a sign, a decimal point and an exponent, "inf" or "nan". NaN if T
/// cannot hold it; empty for other texts.
template <class T = double>
std::optional<T> parse_number(std::string_view text, char decimal = '.');

/// Removes thousands separators, each before three digits, from a number: "1000.50" for "1,000.50". A blank
/// means all blanks except line breaks. Empty for other texts; digits after the decimal point are not checked.
std::optional<std::string> without_thousands(std::string_view text, char thousands, char decimal);

/// Whether a text is a number with thousands separators, such as 1,000.50, 1 000 or 1'000.
bool has_thousands(std::string_view text, char decimal);

/// Whether a cell means that a number is missing: an empty cell, "NA", "NaN", "null", "-", "?", "#DIV/0!" and
/// the like.
bool is_missing(std::string_view cell);

}  // namespace lagtape
