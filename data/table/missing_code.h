#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lagtape {

/// A number that probably means that there is none: at least one in 200 numbers of a column, and far from all others.
struct MissingCode {
  double value = 0;
  std::int64_t cells = 0;
  std::vector<std::string> columns = {};
};

/// The code among numbers, some of which may be NaN.
std::optional<MissingCode> find_missing_code(std::span<const double> numbers);
/// Adds the codes of a column, each found among the numbers that are left, to those of the columns before.
void add_missing_codes(std::span<const double> numbers, const std::string& column,
                       std::vector<MissingCode>& codes);

/// The numbers of a column without those of series that never change, which may be far from all others and are no codes.
/// `series` has the number of the series by row.
std::vector<double> without_constant_series(std::span<const double> numbers,
                                            std::span<const std::int64_t> series);

/// What a user should know of codes that were found, with the key to write; "" where there are none.
std::string note_of_codes(const std::vector<MissingCode>& codes);

}  // namespace lagtape
