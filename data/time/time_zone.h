#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lagtape/data/time/time_parts.h"

namespace lagtape {

/// The clock of a place: its UTC offsets over time. Copies share the rules, and any number of threads may read
/// them.
class TimeZone {
 public:
  TimeZone() = default;  ///< UTC
  /// A zone in the IANA database, such as "Europe/Berlin" or "UTC", or an offset such as "+01:00". Throws
  /// InputError with the nearest name for others.
  static TimeZone named(std::string_view name);
  /// The same offset, in seconds, at all times; it is also the zone's name: "+01:00".
  static TimeZone fixed(std::int64_t seconds_ahead);

  const std::string& name() const { return name_; }
  bool is_utc() const { return !rules_; }
  bool operator==(const TimeZone& other) const { return name_ == other.name_; }

  /// Nanoseconds by which the local time is ahead of UTC.
  std::int64_t offset_at(Instant time) const;
  Instant to_local(Instant time) const { return time + offset_at(time); }
  std::vector<Instant> to_local(std::span<const Instant> times) const;

  /// The local time for steps of a calendar: midnight for the first moment of a day that has no midnight.
  Instant to_calendar(Instant time) const;

  /// The instant of a local time: the earlier one if the clock shows it twice; if the clock skips it, as far
  /// after the skip as the local time is after the start of the skip.
  Instant to_utc(Instant local) const;
  /// The instants of the rows of one series. If the clock shows a time twice, the order of the rows decides
  /// when they ascend or descend; otherwise the first of two equal times is the earlier. Throws InputError for
  /// a time that the clock skips, unless all are midnights: a day without one then starts at its first moment.
  std::vector<Instant> to_utc(std::span<const Instant> local, const PlaceOfRow& place) const;

 private:
  struct Rules;

  std::string name_ = "UTC";
  std::shared_ptr<const Rules> rules_ = {};  ///< nullptr: UTC
};

/// Names of the zones with the most inhabitants, the likeliest first.
std::span<const char* const> common_zones();

/// A row at which the UTC offset changes, with the new offset in seconds.
struct OffsetChange {
  std::size_t row = 0;
  std::int64_t offset = 0;
};

/// The zone whose clock matches the offsets of all times; a common one if possible. Empty if there is none.
std::optional<TimeZone> zone_of_offsets(std::span<const Instant> times,
                                        std::span<const OffsetChange> changes);

/// The zone on whose clock all times have the same time of day, unlike in UTC, such as local days that a
/// program wrote in UTC. Midnights and common zones are preferred. "" if there is none.
std::string zone_of_days(std::span<const Instant> times);

}  // namespace lagtape
