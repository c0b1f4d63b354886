#include "lagtape/tools/chart/time_ticks.h"

#include "lagtape/data/time/time_format.h"
#include "lagtape/data/time/time_grid.h"

namespace lagtape {

namespace {

/// Steps of ticks, the smallest first, with what is written at a tick, a bar, and what is written below.
struct TickSteps {
  std::string_view pattern;
  std::vector<const char*> frequencies;
};

const std::vector<TickSteps>& tick_steps() {
  static const std::vector<TickSteps> kSteps = {
      {"%H:%M:%S.%3f|%Y-%m-%d", {"1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "100ms", "200ms", "500ms"}},
      {"%H:%M:%S|%Y-%m-%d", {"1s", "2s", "5s", "10s", "15s", "30s"}},
      {"%H:%M|%Y-%m-%d",
       {"1min-local", "2min-local", "5min-local", "10min-local", "15min-local", "30min-local", "1h-local",
        "2h-local", "3h-local", "6h-local", "12h-local"}},
      {"%b %-d|%Y", {"1D", "2D", "1W-MON", "2W-MON"}},
      {"%b|%Y", {"month_start", "2month_start", "quarter_start", "6month_start"}},
      {"%Y|",
       {"year_start", "2year_start", "5year_start", "10year_start", "20year_start", "50year_start",
        "100year_start"}},
  };
  return kSteps;
}

}  // namespace

std::vector<TimeTick> time_ticks(Instant first, Instant last, int most, const TimeZone& zone) {
  for (const auto& [pattern, frequencies] : tick_steps())
    for (const char* name : frequencies) {
      const Frequency frequency = Frequency::parse(name);
      // Weeks begin with a Monday, longer steps with the first day of a round year.
      const int day = frequency.unit == Frequency::Unit::month ? 1 : 3;
      const Instant origin = zone.to_utc(day_of(2000, 1, day) * kOneDay);
      const TimeGrid grid(frequency, origin, {.zone = zone});
      std::int64_t step = grid.step_before(first);
      if (grid.time(step) < first) ++step;
      const std::int64_t end = grid.step_before(last) + 1;
      if (end - step > most) continue;
      std::vector<TimeTick> ticks;
      const TimeFormat format(pattern);
      std::string around;
      for (; step < end; ++step) {
        const std::string text = format.write(grid.time(step), zone);
        const std::size_t bar = text.find('|');
        ticks.push_back({.time = grid.time(step), .text = text.substr(0, bar)});
        if (const std::string below = text.substr(bar + 1); below != around)
          ticks.back().below = around = below;
      }
      return ticks;
    }
  return {};
}

}  // namespace lagtape
