#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lagtape/core/json/json.h"

namespace lagtape {

/// A number that probably marks a missing value: at least one in 200 numbers of a column, and far from all
/// others.
struct MissingCode {
  double value = 0;
  std::int64_t cells = 0;
  std::vector<std::string> columns = {};
  bool is_usual = false;     ///< a usual code, such as -999, not a machine state or a closed day
  bool is_measured = false;  ///< a number that also occurs, not as a code, in another column
};

/// The code among numbers, which may include NaN.
std::optional<MissingCode> find_missing_code(std::span<const double> numbers);

/// A column and its numbers by row, which may include NaN.
struct NamedNumbers {
  std::string name;
  std::span<const double> numbers;
};

/// The codes of columns, each found among the remaining numbers. `series` contains each row's series number, or
/// is empty: a series that never changes may be far from all others without its number being a code.
std::vector<MissingCode> find_missing_codes(const std::vector<NamedNumbers>& columns,
                                            std::span<const std::int64_t> series);

/// The value for the key "missing_codes": a list, or lists by column if a code is a measurement in another
/// column.
Json missing_codes_json(const std::vector<MissingCode>& codes);

/// The same on one line.
std::string text_of_codes(const Json& codes);

/// A note about the codes that were found, with the key to write; "" if there are none.
std::string note_of_codes(const std::vector<MissingCode>& codes);

}  // namespace lagtape
