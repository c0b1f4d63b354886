#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lagtape {

/// A column of a table, by the kinds of its cells.
struct RecordingColumn {
  enum class Kind : std::uint8_t { numbers, counter, words, time, clock, constant, other };
  std::string name;  ///< empty: no name
  std::int64_t index = 0;
  Kind kind = Kind::other;
  std::int64_t missing = 0;             ///< empty cells
  std::vector<std::string> words = {};  ///< the words of a column of words, sorted
  std::string text = {};  ///< the first cell that is neither a number nor a date, and its line in the file
  std::int64_t text_line = 0;
  bool has_numbers = false;
  bool is_fixed = false;  ///< each of several series has the same value in all rows
};

}  // namespace lagtape
