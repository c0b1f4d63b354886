#include "lagtape/data/time/calendar.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lagtape/core/error.h"

namespace lagtape {

const CalendarInput& calendar_input(std::string_view name) {
  const auto* found = std::ranges::find(kCalendar, name, &CalendarInput::name);
  if (found == kCalendar.end()) throw Error(text_of("[series] there is no calendar input '", name, "'."));
  return *found;
}

double CalendarInput::angle(double time) const {
  return 2 * std::numbers::pi * std::fmod(time - origin, seconds) / seconds;
}

}  // namespace lagtape
