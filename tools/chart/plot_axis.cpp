#include "lagtape/tools/chart/plot_axis.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/tools/chart/time_ticks.h"

namespace lagtape {

namespace {

constexpr std::size_t kFewest = 3;   ///< ticks that an axis has at least
constexpr int kLastDigits = 3;       ///< significant digits that the number of the largest value has at most
constexpr double kNarrowest = 1e-9;  ///< a range that is narrower, for its numbers, differs by rounding alone

/// A number of so many digits, in the form of printf's %g.
std::string rounded_text(double value, int digits) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), value, std::chars_format::general, digits).ptr};
}

std::string tick_text(double value) { return rounded_text(value, 6); }

/// Whether few digits write the value exactly, as they do for most settings and few results.
bool is_short(double value) {
  const std::string text = rounded_text(value, kLastDigits);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return tick_text(value) == tick_text(rounded);
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `value`.
double round_up(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= value * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string with_unit(const Quantity& quantity) {
  return quantity.unit.empty() ? quantity.name : text_of(quantity.name, " (", quantity.unit, ")");
}

bool have_one_unit(const std::vector<Quantity>& quantities) {
  return std::ranges::all_of(quantities, [&](const Quantity& one) { return one.unit == quantities[0].unit; });
}

}  // namespace

std::string axis_title(const std::vector<Quantity>& quantities, const std::string& otherwise) {
  if (quantities.size() == 1) return with_unit(quantities[0]);
  const bool has_unit = !quantities.empty() && have_one_unit(quantities) && !quantities[0].unit.empty();
  return has_unit ? quantities[0].unit : otherwise;
}

std::string line_name(const std::vector<Quantity>& quantities, std::size_t i) {
  if (quantities.size() < 2) return "";
  return have_one_unit(quantities) ? quantities[i].name : with_unit(quantities[i]);
}

PlotScale::PlotScale(const PlotAxis& axis, const std::vector<double>& values, bool include_zero)
    : log_(axis.log) {
  find_range(axis, values, include_zero && !axis.log);
  if (last_ && last_->value < min_) last_.reset();
  if (!axis.categories.empty()) {
    for (std::size_t i = 0; i < axis.categories.size(); ++i)
      ticks_.push_back(
          {static_cast<double>(i), axis.categories[i], i < axis.below.size() ? axis.below[i] : ""});
  } else if (axis.clock) {
    last_.reset();
    ticks_ = clock_ticks(*axis.clock, axis.ticks);
  } else {
    ticks_ = log_ ? log_ticks(axis.ticks) : linear_ticks(axis.ticks);
  }
}

bool PlotScale::shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }

double PlotScale::place(double value) const {
  if (!log_) return (value - min_) / (max_ - min_);
  return (std::log(value) - std::log(min_)) / (std::log(max_) - std::log(min_));  // a ratio may overflow
}

void PlotScale::find_range(const PlotAxis& axis, const std::vector<double>& values, bool include_zero) {
  bool found = include_zero;
  double least = 0, most = 0;
  const auto take = [&](double value) {
    if (!shows(value)) return;
    least = found ? std::min(least, value) : value;
    most = found ? std::max(most, value) : value;
    found = true;
  };
  for (const double value : values) take(value);
  if (!axis.categories.empty()) {
    take(-0.5);
    take(static_cast<double>(axis.categories.size()) - 0.5);
  }
  if (found) {
    min_ = least;
    max_ = most;
  } else if (log_) {
    min_ = 1;
    max_ = 10;
  }
  if (found && axis.room > 0 && min_ < max_) {
    if (log_) {
      const double share = std::exp(axis.room * (std::log(max_) - std::log(min_)));
      min_ = std::max(min_ / share, std::numeric_limits<double>::min());
      max_ = std::min(max_ * share, std::numeric_limits<double>::max());
    } else {
      const double range = max_ - min_, share = range * axis.room;
      if (std::isfinite(range + 2 * share)) {  // the largest numbers have no room
        min_ -= share;
        max_ += share;
      }
    }
  }
  if (shows(axis.min)) min_ = axis.min;
  if (shows(axis.max)) max_ = axis.max;
  const double last = shows(axis.max) ? axis.max : most;
  if (found && axis.categories.empty() && is_short(last)) last_ = {last, tick_text(last)};
  if (max_ - min_ > kNarrowest * std::max(std::abs(min_), std::abs(max_))) return;
  // The range is empty, for instance with a single value: it gets some room.
  using Limits = std::numeric_limits<double>;
  if (log_) {
    max_ = std::min(min_ * 10, Limits::max());
    min_ = std::max(min_ / 10, Limits::denorm_min());
  } else {
    const double room = min_ == 0 ? 1 : std::max(std::abs(min_) / 2, Limits::min());
    max_ = std::min(min_ + room, Limits::max());
    min_ = std::max(min_ - room, Limits::lowest());
  }
}

std::vector<PlotTick> PlotScale::linear_ticks(int wished) const {
  const double slack = 1e-9 * (max_ - min_);
  std::vector<PlotTick> ticks;
  for (; ticks.size() < kFewest && wished < 100; wished *= 2) {
    const double step = round_up((max_ - min_) / wished);
    if (!std::isnormal(step)) break;  // a range that has no parts, or overflows
    ticks.clear();
    // + 0.0 turns -0 into 0.
    for (double i = std::ceil((min_ - slack) / step) + 0.0;
         std::isfinite(i * step) && i * step <= max_ + slack; ++i)
      ticks.push_back({i * step, tick_text(i * step)});
  }
  return ticks;
}

/// Round moments, a few more than wished rather than fewer; seconds where the times are too near to each other.
std::vector<PlotTick> PlotScale::clock_ticks(const PlotClock& clock, int wished) const {
  std::vector<PlotTick> ticks;
  const Instant first = clock.zero + std::llround(min_ * 1e9), last = clock.zero + std::llround(max_ * 1e9);
  for (const TimeTick& tick : time_ticks(first, last, wished + 2, clock.zone))
    ticks.push_back({clock.place(tick.time), tick.text, tick.below});
  return ticks.empty() ? linear_ticks(wished) : ticks;
}

/// Powers of ten, fewer of them when there are many, and also 2 and 5 times each when there are few; round numbers on a
/// short axis.
std::vector<PlotTick> PlotScale::log_ticks(int wished) const {
  const double first = std::floor(std::log10(min_)), last = std::ceil(std::log10(max_));
  const double decades = std::log10(max_) - std::log10(min_);
  const double slack = 1 + 1e-9;
  struct Choice {
    double step;
    bool powers_alone;
  };
  const double step = std::max(1.0, std::ceil(decades / wished));
  std::vector<PlotTick> ticks;
  for (const Choice choice : {Choice{step, decades > 2}, Choice{1, true}, Choice{1, false}}) {
    if (ticks.size() >= kFewest) break;
    ticks.clear();
    for (double power = first; power <= last; power += choice.step) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10, power);
        if (factor > 1 && choice.powers_alone) break;
        if (std::isfinite(value) && value * slack >= min_ && value <= max_ * slack)
          ticks.push_back({value, tick_text(value)});
      }
    }
  }
  return ticks.size() < kFewest ? linear_ticks(wished) : ticks;
}

}  // namespace lagtape
