#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lagtape {

/// A column of a .csv file, by what its cells are.
struct RecordingColumn {
  enum class Kind : std::uint8_t { numbers, words, time, milliseconds, constant, other };
  std::string name;  ///< empty: the file names no columns
  std::int64_t index = 0;
  Kind kind = Kind::other;
  std::int64_t missing = 0;             ///< cells without anything
  std::vector<std::string> words = {};  ///< of a column of words, in the order of the alphabet
  std::string text = {};  ///< the first cell that is neither a number nor a date, and its line in the file
  std::int64_t text_line = 0;
  bool has_numbers = false;
};

/// What can be seen in a .csv file without being told anything.
struct RecordingColumns {
  std::vector<RecordingColumn> columns = {};
  std::int64_t rows = 0;
  bool decimal_comma = false;
  double interval = 0;    ///< seconds from a row to the next, the median; 0 without dates
  bool has_gaps = false;  ///< some differences of the times are larger

  std::vector<const RecordingColumn*> of_kind(RecordingColumn::Kind kind) const;
  /// The steps after which a day, a week or a year comes again; 0 without times.
  std::int64_t season() const;
};

/// Looks at a .csv file. A column of times has ISO dates, or seconds since 1970, or is the first one and counts evenly;
/// one of words has few of them. Throws InputError.
RecordingColumns describe_recording(const std::filesystem::path& file);

}  // namespace lagtape
