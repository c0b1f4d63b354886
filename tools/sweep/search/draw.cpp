#include "lagtape/tools/sweep/search/draw.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "lagtape/core/hash.h"
#include "lagtape/core/random.h"

namespace lagtape::search {

namespace {

/// A number with four significant digits, which is what a table shows: the run has just the number that is read.
double rounded(double value) {
  const std::string text = fmt::format("{:.3e}", value);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Json value_at(const Setting& setting, double place, double stretch) {
  if (setting.has_choices()) {
    const auto count = static_cast<double>(setting.choices.size());
    return setting.choices[static_cast<std::size_t>(std::min(place * count, count - 1))];
  }
  const bool whole = setting.is_whole(), logarithmic = setting.is_logarithmic();
  const double low = setting.low - (whole ? stretch : 0), high = setting.high + (whole ? stretch : 0);
  // The ratio of the bounds may overflow where the difference of their logarithms does not.
  const double value = logarithmic ? std::exp(std::log(low) + (std::log(high) - std::log(low)) * place)
                                   : low + (high - low) * place;
  if (whole) return static_cast<std::int64_t>(std::clamp(std::round(value), setting.low, setting.high));
  return std::clamp(rounded(value), setting.low, setting.high);
}

Values random_draw(const SearchPlan& plan, std::uint64_t run, std::uint64_t attempt) {
  Draw all(plan.identity.at("experiment"));
  for (const Setting& setting : plan.settings) {
    if (!all.holds_for(setting)) continue;
    RandomStream draw(plan.seed, stream_name({fnv1a("search"), fnv1a(setting.pointer), run, attempt}));
    all.push(setting, value_at(setting, draw.next_uniform(), kEvenly));
  }
  return all.values();
}

}  // namespace lagtape::search
