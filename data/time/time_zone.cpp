#include "lagtape/data/time/time_zone.h"

#include <date/tz.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/time/time_pattern.h"

namespace lagtape {

namespace {

/// The one or two instants of a local time, none if the clock skips it.
struct Instants {
  int count = 0;
  Instant time[2] = {0, 0};
};

std::vector<std::string> zone_names() {
  std::vector<std::string> names = {"UTC"};
  for (const date::time_zone& zone : date::get_tzdb().zones)
    if (zone.name().find('/') != std::string::npos) names.push_back(zone.name());
  return names;
}

}  // namespace

/// Offsets in nanoseconds, each valid until the start of the next.
struct TimeZone::Rules {
  std::vector<Instant> begins;
  std::vector<std::int64_t> offsets;

  void add(Instant begin, std::int64_t offset) {
    if (!offsets.empty() && offsets.back() == offset) return;
    begins.push_back(begin);
    offsets.push_back(offset);
  }
  /// Repeats the changes of the last years if they are the same each year: libdate knows none after 2037.
  void extend();
  std::size_t at(Instant time) const {
    const auto after = std::upper_bound(begins.begin() + 1, begins.end(), time);
    return static_cast<std::size_t>(after - begins.begin()) - 1;
  }
  Instant end(std::size_t rule) const { return rule + 1 < begins.size() ? begins[rule + 1] : INT64_MAX; }
  Instants instants_of(Instant local) const {
    Instants found;
    // Offsets are less than a day.
    const std::size_t last = at(local + kOneDay);
    for (std::size_t rule = at(local - kOneDay); rule <= last; ++rule) {
      const Instant time = local - offsets[rule];
      if ((rule == 0 || time >= begins[rule]) && time < end(rule) && found.count < 2)
        found.time[found.count++] = time;
    }
    return found;
  }
};

namespace {

/// An annual clock change.
struct YearlyChange {
  int month, weekday, week;     ///< week 5 means the last one
  std::int64_t since_midnight;  ///< nanoseconds by the clock before the change

  Instant local_in(int year) const {
    const std::int64_t first = day_of(year, month, 1);
    std::int64_t day = first + floor_mod(weekday - weekday_of(first), 7) + 7 * (week - 1);
    if (week == 5 && day >= first + days_in_month(year, month)) day -= 7;
    return day * kOneDay + since_midnight;
  }
};

/// The change whose local times, latest first, are those of successive years, if there is one.
std::optional<YearlyChange> yearly_change(const std::vector<Instant>& local) {
  // Midnight may mean the end of the previous day.
  for (const std::int64_t back : {std::int64_t{0}, kOneDay}) {
    const std::int64_t day = floor_div(local.front() - back, kOneDay);
    const auto date = date_of(day);
    for (int week = 1; week <= 5; ++week) {
      const YearlyChange change{static_cast<int>(static_cast<unsigned>(date.month())), weekday_of(day), week,
                                local.front() - day * kOneDay};
      int year = static_cast<int>(date.year()) + 1;
      if (std::ranges::all_of(local, [&](Instant time) { return change.local_in(--year) == time; }))
        return change;
    }
  }
  return {};
}

}  // namespace

void TimeZone::Rules::extend() {
  constexpr std::size_t kYears = 10;
  const std::size_t count = begins.size();
  const auto last_year = static_cast<int>(date_of(floor_div(begins.back(), kOneDay)).year());
  if (last_year != 2037 || count < 2 * kYears + 1) return;
  std::array<std::optional<YearlyChange>, 2> changes;
  for (std::size_t k = 0; k < 2; ++k) {
    std::vector<Instant> local;
    for (std::size_t i = 0; i < kYears; ++i) {
      const std::size_t rule = count - 2 + k - 2 * i;
      local.push_back(begins[rule] + offsets[rule - 1]);
    }
    changes[k] = yearly_change(local);
    if (!changes[k]) return;
  }
  for (int year = last_year + 1; year <= kLastYear; ++year)
    for (std::size_t k = 0; k < 2; ++k)
      add(changes[k]->local_in(year) - offsets.back(), offsets[offsets.size() - 2]);
}

TimeZone TimeZone::named(std::string_view name) {
  if (name == "UTC" || name == "Z") return {};
  TimeParts parts;
  std::uint32_t style = 0;
  if (std::string_view rest = name;
      name.find_first_of("+-") == 0 && take_offset(rest, parts, style) && rest.empty())
    return fixed(parts.offset);
  TimeZone zone;
  zone.name_ = name;
  const date::time_zone* source = nullptr;
  try {
    source = date::locate_zone(name);
  } catch (const std::runtime_error&) {
    std::vector<std::string> names;
    try {
      names = zone_names();
    } catch (const std::runtime_error&) {
      throw InputError(Problem{.rule = Rule::cannot_read,
                               .statement = "the system has no data of time zones",
                               .found = quote(name),
                               .hint = "They are in Debian's package tzdata."});
    }
    Problem problem = unknown_name("time zone", name, names);
    problem.expected = "names of the IANA database, such as Europe/Berlin, and offsets such as +01:00";
    throw InputError(std::move(problem));
  }
  auto rules = std::make_shared<Rules>();
  const std::int64_t last = day_of(kLastYear + 1, 1, 1) * (kOneDay / kOneSecond);
  for (std::int64_t time = day_of(kFirstYear, 1, 1) * (kOneDay / kOneSecond); time < last;) {
    const date::sys_info info = source->get_info(date::sys_seconds(std::chrono::seconds(time)));
    rules->add(time * kOneSecond, info.offset.count() * kOneSecond);
    time = std::max(time + 1, static_cast<std::int64_t>(info.end.time_since_epoch().count()));
  }
  rules->extend();
  zone.rules_ = std::move(rules);
  return zone;
}

TimeZone TimeZone::fixed(std::int64_t seconds_ahead) {
  TimeZone zone;
  if (seconds_ahead == 0) return zone;
  zone.name_ = offset_text(seconds_ahead);
  auto rules = std::make_shared<Rules>();
  rules->add(day_of(kFirstYear, 1, 1) * kOneDay, seconds_ahead * kOneSecond);
  zone.rules_ = std::move(rules);
  return zone;
}

std::int64_t TimeZone::offset_at(Instant time) const {
  return rules_ ? rules_->offsets[rules_->at(time)] : 0;
}

std::vector<Instant> TimeZone::to_local(std::span<const Instant> times) const {
  std::vector<Instant> local(times.begin(), times.end());
  if (!rules_) return local;
  Instant begin = 0, end = 0;  // of the previous row's rule
  std::int64_t offset = 0;
  for (Instant& time : local) {
    if (time < begin || time >= end) {
      const std::size_t rule = rules_->at(time);
      begin = rule == 0 ? INT64_MIN : rules_->begins[rule];
      end = rules_->end(rule);
      offset = rules_->offsets[rule];
    }
    time += offset;
  }
  return local;
}

Instant TimeZone::to_calendar(Instant time) const {
  const Instant local = to_local(time), midnight = floor_div(local, kOneDay) * kOneDay;
  const bool leaps = local - midnight <= 2 * kOneHour && offset_at(time - 1) != offset_at(time);
  return leaps && to_utc(midnight) == time ? midnight : local;
}

Instant TimeZone::to_utc(Instant local) const {
  if (!rules_) return local;
  const Instants found = rules_->instants_of(local);
  if (found.count > 0) return found.time[0];
  return local - rules_->offsets[rules_->at(local - kOneDay)];  // on the clock before the shift
}

namespace {

/// Evidence for choosing between the two instants of a local time.
enum class RowOrder : std::uint8_t { ascending, descending, none };

/// Chooses between the two instants of a local time, row by row.
class Chooser {
 public:
  explicit Chooser(RowOrder order) : order_(order) {}

  Instant choose(Instant local, const Instants& found) {
    if (found.count < 2) return found.time[0];
    if (order_ == RowOrder::none) return found.time[seen_[local]++ % 2];
    // The nearer one, unless the previous row is not earlier or was as far from its own as the other one is.
    const bool ascends = order_ == RowOrder::ascending;
    const Instant near = found.time[ascends ? 0 : 1], far = found.time[ascends ? 1 : 0];
    return !is_after(near) || (step_ != 0 && far - last_ == step_) ? far : near;
  }
  /// Whether a row is in order.
  bool follows(Instant time) {
    const bool is_in_order = order_ == RowOrder::none || !has_last_ || time == last_ || is_after(time);
    step_ = has_last_ ? time - last_ : 0;
    has_last_ = true;
    last_ = time;
    return is_in_order;
  }

 private:
  bool is_after(Instant time) const {
    return !has_last_ || (order_ == RowOrder::ascending ? time > last_ : time < last_);
  }

  RowOrder order_;
  bool has_last_ = false;
  Instant last_ = 0, step_ = 0;  ///< the previous row, and its distance from its own
  std::unordered_map<Instant, int> seen_ = {};
};

}  // namespace

std::vector<Instant> TimeZone::to_utc(std::span<const Instant> local, const PlaceOfRow& place) const {
  std::vector<Instant> times(local.begin(), local.end());
  if (!rules_) return times;
  const bool are_days = std::ranges::all_of(local, [](Instant time) { return time % kOneDay == 0; });
  const auto convert = [&](RowOrder order) {
    Chooser chooser(order);
    Instant low = 0, high = 0;  // local times with one instant each, under the previous row's rule
    std::int64_t offset = 0;
    for (std::size_t row = 0; row < local.size(); ++row) {
      Instant time = local[row] - offset;
      if (local[row] < low || local[row] >= high) {
        Instants found = rules_->instants_of(local[row]);
        if (found.count == 0 && are_days) found = {1, {to_utc(local[row])}};
        if (found.count == 0) {
          throw InputError(Problem{.place = place(static_cast<std::int64_t>(row)),
                                   .rule = Rule::out_of_range,
                                   .statement = text_of("the clock of ", name_, " leaps over this time"),
                                   .found = TimePattern("%Y-%m-%d %H:%M:%S").write(local[row], 0),
                                   .hint = "Clocks that never change have a zone such as UTC or +01:00."});
        }
        time = chooser.choose(local[row], found);
        const std::size_t rule = rules_->at(time);
        offset = rules_->offsets[rule];
        if (found.count == 1) {
          const auto clock = [&](std::size_t at) {
            return rules_->offsets[std::min(at, rules_->offsets.size() - 1)];
          };
          low = rule == 0 ? INT64_MIN : rules_->begins[rule] + std::max(offset, clock(rule - 1));
          high = rules_->end(rule) == INT64_MAX ? INT64_MAX
                                                : rules_->end(rule) + std::min(offset, clock(rule + 1));
        }
      }
      if (!chooser.follows(time)) return false;
      times[row] = time;
    }
    return true;
  };
  if (!convert(RowOrder::ascending) && !convert(RowOrder::descending)) convert(RowOrder::none);
  return times;
}

std::span<const char* const> common_zones() {
  static constexpr std::array kZones = {
      "Europe/Berlin",    "Europe/London",     "Europe/Athens",       "America/New_York",
      "America/Chicago",  "America/Denver",    "America/Los_Angeles", "Australia/Sydney",
      "Pacific/Auckland", "America/Sao_Paulo", "America/Santiago",    "America/Mexico_City",
      "America/Halifax",  "America/St_Johns",  "America/Havana",      "Australia/Adelaide",
      "Asia/Jerusalem",   "Asia/Tehran",       "Asia/Beirut",         "Africa/Cairo",
      "Europe/Moscow",    "Europe/Istanbul",   "Australia/Lord_Howe"};
  return kZones;
}

namespace {

/// The first zone that satisfies a condition, with common ones checked first.
template <class Is>
std::optional<TimeZone> first_zone(const Is& is) {
  std::vector<std::string> names(common_zones().begin(), common_zones().end());
  std::ranges::move(zone_names(), std::back_inserter(names));
  for (const std::string& name : names)
    if (TimeZone zone = TimeZone::named(name); is(zone)) return zone;
  return {};
}

}  // namespace

std::optional<TimeZone> zone_of_offsets(std::span<const Instant> times,
                                        std::span<const OffsetChange> changes) {
  const auto has = [&](const TimeZone& zone, std::size_t row, std::int64_t offset) {
    return zone.offset_at(times[row]) == offset * kOneSecond;
  };
  return first_zone([&](const TimeZone& zone) {
    const auto fits = [&](const OffsetChange& change) { return has(zone, change.row, change.offset); };
    if (!std::ranges::all_of(changes, fits)) return false;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const std::size_t end = i + 1 < changes.size() ? changes[i + 1].row : times.size();
      for (std::size_t row = changes[i].row; row < end; ++row)
        if (!has(zone, row, changes[i].offset)) return false;
    }
    return true;
  });
}

std::string zone_of_days(std::span<const Instant> times) {
  constexpr std::size_t kMostClocks = 4;                 // of one zone, whose rules may change
  std::vector<std::pair<std::int64_t, Instant>> clocks;  // times of day, and an example of each
  for (const Instant time : times) {
    const std::int64_t clock = floor_mod(time, kOneDay);
    if (clock % kOneMinute != 0) return {};
    if (std::ranges::find(clocks, clock, &std::pair<std::int64_t, Instant>::first) != clocks.end()) continue;
    if (clocks.size() == kMostClocks) return {};
    clocks.emplace_back(clock, time);
  }
  if (clocks.size() < 2) return {};
  const auto clock_in = [](const TimeZone& zone, Instant time) {
    return floor_mod(zone.to_local(time), kOneDay);
  };
  const auto has_clock = [&](const TimeZone& zone, std::int64_t clock) {
    const auto is_so = [&](Instant time) { return clock_in(zone, time) == clock; };
    return std::ranges::all_of(clocks, [&](const auto& one) { return is_so(one.second); }) &&
           std::ranges::all_of(times, is_so);
  };
  auto zone = first_zone([&](const TimeZone& one) { return has_clock(one, 0); });
  if (!zone) zone = first_zone([&](const TimeZone& one) { return has_clock(one, clock_in(one, times[0])); });
  return zone ? zone->name() : "";
}

}  // namespace lagtape
