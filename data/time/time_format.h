#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lagtape/data/time/time_count.h"
#include "lagtape/data/time/time_pattern.h"
#include "lagtape/data/time/time_zone.h"

namespace lagtape {

/// The format of times in a column. A model stores its text, which reads back to the same format.
class TimeFormat {
 public:
  TimeFormat() : TimeFormat("%Y-%m-%d") {}
  /// strptime's letters, as in "%d.%m.%Y %H:%M", or the name of a TimeCount, such as "seconds". Throws
  /// InputError for other words, for unknown letters, and if there is no year.
  explicit TimeFormat(std::string_view text);

  const std::string& text() const { return text_; }
  const std::optional<TimeCount>& count() const { return count_; }     ///< the unit of plain numbers
  bool is_date() const { return pattern_ && !pattern_->has_clock(); }  ///< no time of day is written
  /// Texts determine instants: they have a UTC offset, or count since 1970. Others are local times.
  bool is_absolute() const;

  /// The time of a text in exactly this format; empty for others.
  std::optional<ReadTime> read(std::string_view text) const;
  /// An instant written in this format, on the zone's clock.
  std::string write(Instant time, const TimeZone& zone = {}) const;

  bool operator==(const TimeFormat& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::optional<TimeCount> count_ = {};
  std::optional<TimePattern> pattern_ = {};  ///< empty: the format is a count
};

/// A date in a common, unambiguous format: 2024-01-31, 2024/01/31 or 31.01.2024, optionally with a time of day
/// and an offset, as in 2024-01-31T13:00:00.5+02:00.
std::optional<ReadTime> read_time(std::string_view text);

}  // namespace lagtape
