#include "lagtape/tools/forecast/forecast_length.h"

#include <charconv>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/data/series/panel.h"

namespace lagtape {

ForecastLength ForecastLength::parse(std::string_view text, const Place& place) {
  ForecastLength length(0);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length.steps_);
  if (error == std::errc() && end == text.data() + text.size() && length.steps_ >= 1) return length;
  try {
    if (error != std::errc() || length.steps_ >= 1) {
      length.length_ = Frequency::parse(text);
      length.text_ = text;
      length.place_ = place;
      return length;
    }
  } catch (const InputError&) {  // the text is not a number either
  }
  throw unexpected(place, Rule::syntax,
                   "a number of steps, or a length of time such as 2d, 48h, 1W or 3 months", quote(text));
}

std::int64_t ForecastLength::in_steps(const Panel& panel) const {
  if (!length_) return steps_;
  if (panel.axis.grids.empty())
    throw unexpected(place_, Rule::conflict, "a number of steps, as the rows have no times", quote(text_));
  const Frequency& rows = panel.axis.grids.front().grid.frequency();
  if (const auto steps = rows.steps_in(*length_)) return *steps;
  throw unexpected(place_, Rule::conflict,
                   text_of("a whole number of steps of the rows, whose frequency is ", rows.name()),
                   quote(text_));
}

}  // namespace lagtape
