#include "lagtape/data/time/time_format.h"

#include <array>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/time/clock_text.h"

namespace lagtape {

TimeFormat::TimeFormat(std::string_view text) : text_(text == "%s" ? name_of(TimeCount::seconds) : text) {
  count_ = count_named(text_);
  if (!count_ && text_.find('%') == text_.npos)
    throw InputError(
        Problem{.rule = Rule::unknown_name,
                .statement = "format of times",
                .found = text_,
                .expected = text_of(listed(names_of_counts()), ", and letters such as %Y-%m-%d %H:%M"),
                .nearest = nearest_name(text_, names_of_counts())});
  if (!count_) pattern_.emplace(text_);
}

bool TimeFormat::is_absolute() const {
  return pattern_ ? pattern_->has_offset() : count_ != TimeCount::spreadsheet_days;
}

std::optional<ReadTime> TimeFormat::read(std::string_view text) const {
  if (count_) {
    const auto number = read_count(text);
    const auto time =
        number ? instant_of(*count_, number->whole, number->fraction, number->digits) : std::nullopt;
    return time ? std::optional(ReadTime{.time = *time}) : std::nullopt;
  }
  TimeParts parts;
  std::uint32_t style = 0;
  if (!pattern_->read(text, parts, style) || !text.empty()) return {};
  return parts.read(is_date());
}

std::string TimeFormat::write(Instant time, const TimeZone& zone) const {
  if (count_) return count_text(*count_, *count_ == TimeCount::spreadsheet_days ? zone.to_local(time) : time);
  const std::int64_t offset = zone.offset_at(time);
  return pattern_->writes_utc() ? pattern_->write(time, 0)
                                : pattern_->write(time + offset, offset / kOneSecond);
}

std::optional<ReadTime> read_time(std::string_view text) {
  static const std::array<TimePattern, 3> kDates = {TimePattern("%Y-%m-%d"), TimePattern("%Y/%m/%d"),
                                                    TimePattern("%d.%m.%Y")};
  for (const TimePattern& date : kDates) {
    TimeParts parts;
    std::uint32_t style = 0;
    std::string_view rest = text;
    if (date.read(rest, parts, style) && (rest.empty() || read_clock(rest, parts, style)))
      return parts.read(rest.empty());
  }
  return {};
}

}  // namespace lagtape
