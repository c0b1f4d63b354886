#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lagtape/data/time/time_parts.h"

namespace lagtape {

/// A text pattern in strptime's letters. In addition to Y y m d H I M S f p b B h a A j z Z F T R D e there are
/// q for a quarter, and G, V and u for the year, week and day of the week according to ISO 8601. %3f and %3j
/// have three digits, %:z is +01:00, %-d has no leading zero, %^b is in capitals.
class TimePattern {
 public:
  /// Throws InputError for an unknown letter, and if there is no year.
  explicit TimePattern(std::string_view text);

  bool has_clock() const { return has_clock_; }
  bool has_offset() const { return has_offset_; }
  bool writes_utc() const { return writes_utc_; }  ///< the offset is a word for UTC
  const std::string& text() const { return text_; }

  /// Reads the start of a text and removes it. Adds its form to `style`. Returns false if it does not fit.
  bool read(std::string_view& text, TimeParts& parts, std::uint32_t& style) const;
  std::string write(Instant local, std::int64_t offset) const;

 private:
  struct Field {
    char letter = 0;  ///< 0: the character itself
    char literal = 0;
    char flag = 0;
    int least = 1, most = 2;  ///< digits
  };

  /// The positions of the parts in a fixed-width date, such as 2024-01-31; width 0: not fixed.
  struct Layout {
    std::size_t width = 0, year = 0, month = 0, day = 0;
    std::size_t first = 0, second = 0;  ///< positions of the characters between parts
    char between = 0;                   ///< 0: none
  };

  void compile(std::string_view text);
  void find_layout();
  bool read_layout(std::string_view& text, TimeParts& parts) const;
  static bool read_field(const Field& field, std::string_view& text, TimeParts& parts, std::uint32_t& style);

  std::string text_;
  std::vector<Field> fields_ = {};
  Layout layout_ = {};
  bool has_clock_ = false, has_offset_ = false, writes_utc_ = false;
};

}  // namespace lagtape
