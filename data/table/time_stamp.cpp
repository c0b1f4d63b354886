#include "lagtape/data/table/time_stamp.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "lagtape/data/table/number.h"

namespace lagtape {

namespace {

constexpr double kDay = 86400;

/// Takes the parts of a date from the beginning of a text.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  bool is_done() const { return text_.empty(); }

  /// Takes one of the characters.
  bool take(std::string_view characters) {
    if (text_.empty() || characters.find(text_.front()) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }

  /// Takes exactly that many digits, as a number up to `most`.
  std::optional<int> digits(std::size_t count, int most) {
    int value = 0;
    if (text_.size() < count) return {};
    for (const char c : text_.substr(0, count)) {
      if (c < '0' || c > '9') return {};
      value = 10 * value + (c - '0');
    }
    text_.remove_prefix(count);
    return value <= most ? std::optional(value) : std::nullopt;
  }

  /// Takes a decimal fraction, such as ".25".
  std::optional<double> fraction() {
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return {};
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value < 1 ? std::optional(value) : std::nullopt;
  }

  bool begins_with(char c) const { return text_.starts_with(c); }

 private:
  std::string_view text_;
};

std::optional<double> days_of(DateReader& date) {
  const auto year = date.digits(4, 9999);
  if (!year || !date.take("-/")) return {};
  const auto month = date.digits(2, 12);
  if (!month || !date.take("-/")) return {};
  const auto day = date.digits(2, 31);
  if (!day) return {};
  const std::chrono::year_month_day whole{std::chrono::year(*year),
                                          std::chrono::month(static_cast<unsigned>(*month)),
                                          std::chrono::day(static_cast<unsigned>(*day))};
  if (!whole.ok()) return {};
  return static_cast<double>(std::chrono::sys_days(whole).time_since_epoch().count());
}

std::optional<double> time_of_day(DateReader& date) {
  const auto hour = date.digits(2, 23);
  if (!hour || !date.take(":")) return {};
  const auto minute = date.digits(2, 59);
  if (!minute) return {};
  double seconds = *hour * 3600.0 + *minute * 60.0;
  if (!date.take(":")) return seconds;
  const auto second = date.digits(2, 60);
  if (!second) return {};
  seconds += *second;
  if (!date.begins_with('.')) return seconds;
  const auto fraction = date.fraction();
  return fraction ? std::optional(seconds + *fraction) : std::nullopt;
}

/// Seconds by which a place's clock is ahead of UTC.
std::optional<double> offset_of(DateReader& date) {
  if (date.take("Z")) return 0;
  const double sign = date.begins_with('-') ? -1 : 1;
  if (!date.take("+-")) return {};
  const auto hours = date.digits(2, 23);
  if (!hours) return {};
  date.take(":");
  const auto minutes = date.is_done() ? std::optional(0) : date.digits(2, 59);
  return minutes ? std::optional(sign * (*hours * 3600.0 + *minutes * 60.0)) : std::nullopt;
}

}  // namespace

std::optional<TimeStamp> parse_time_stamp(std::string_view text) {
  if (const std::optional<double> number = parse_number(text))
    return std::isfinite(*number) ? std::optional(TimeStamp{.seconds = *number}) : std::nullopt;
  DateReader date(text);
  const auto days = days_of(date);
  if (!days) return {};
  if (date.is_done()) return TimeStamp{.seconds = *days * kDay, .is_date = true};
  if (!date.take("T ")) return {};
  const auto seconds = time_of_day(date);
  if (!seconds) return {};
  TimeStamp stamp{.seconds = *days * kDay + *seconds, .is_date = true};
  if (date.is_done()) return stamp;
  stamp.offset = offset_of(date);
  if (!stamp.offset || !date.is_done()) return {};
  stamp.seconds -= *stamp.offset;
  return stamp;
}

std::string text_of_offset(double seconds) {
  if (seconds == 0) return "Z";
  const auto minutes = std::llround(std::abs(seconds) / 60);
  char text[16];
  const int size = std::snprintf(text, sizeof(text), "%c%02lld:%02lld", seconds < 0 ? '-' : '+', minutes / 60,
                                 minutes % 60);
  return {text, static_cast<std::size_t>(size)};
}

bool is_midnight(double seconds) { return std::fmod(seconds, kDay) == 0; }

std::string iso_date_of(double seconds, bool with_time_of_day) {
  const auto milliseconds = static_cast<std::int64_t>(std::llround(seconds * 1000));
  const auto since = std::chrono::milliseconds(milliseconds);
  const auto days = std::chrono::floor<std::chrono::days>(since);
  const std::chrono::year_month_day date{std::chrono::sys_days(days)};
  const auto rest = static_cast<long long>((since - days).count());
  char text[64];
  int size = std::snprintf(text, sizeof(text), "%04d-%02u-%02u", static_cast<int>(date.year()),
                           static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  const auto add = [&](const char* format, auto... values) {
    size += std::snprintf(text + size, sizeof(text) - static_cast<std::size_t>(size), format, values...);
  };
  if (with_time_of_day) add("T%02lld:%02lld:%02lld", rest / 3600000, rest / 60000 % 60, rest / 1000 % 60);
  if (with_time_of_day && rest % 1000 != 0) add(".%03lld", rest % 1000);
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace lagtape
