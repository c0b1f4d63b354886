#pragma once

#include <string_view>

namespace lagtape {

/// A word for a month or a weekday.
struct DateWord {
  int number = -1;         ///< from 0 for January or Monday; -1: neither
  std::size_t length = 0;  ///< bytes, including the period of an abbreviation
  bool is_long = false;    ///< not an abbreviation
  bool is_sure = false;    ///< no other month or weekday starts like this in these languages
};

/// The month at the start of a text, in English, German, French, Spanish, Italian, Dutch or Portuguese, in full
/// or abbreviated to three letters or more.
DateWord month_at(std::string_view text);
/// The weekday in the same languages, in full or abbreviated to two letters or more.
DateWord weekday_at(std::string_view text);

}  // namespace lagtape
