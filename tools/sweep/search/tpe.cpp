#include "lagtape/tools/sweep/search/tpe.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "lagtape/core/hash.h"
#include "lagtape/core/random.h"
#include "lagtape/tools/sweep/search/draw.h"

namespace lagtape::search {
namespace {

/// A number as its place from 0 to 1 in the range, where `value_at` has it.
double place_of(const Setting& setting, const Json& value) {
  const double stretch = setting.is_whole() ? kEvenly : 0;
  const double low = setting.low - stretch, high = setting.high + stretch, x = value.get<double>();
  const double place = setting.is_logarithmic()
                           ? (std::log(x) - std::log(low)) / (std::log(high) - std::log(low))
                           : (x - low) / (high - low);
  return std::clamp(place, 0.0, 1.0);
}

double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

/// A density over places: from 0 to 1 for numbers, the index of one for choices.
struct Density {
  std::function<double(double place)> at;
  std::function<double(RandomStream& random)> draw;
};

/// The mean of normal densities cut off at the ends of [0, 1], one at each place, as wide as its farther neighbor is away,
/// and one as wide as the range for what is not known.
Density density_of_numbers(std::vector<double> centers) {
  const double narrowest = 1 / std::min(100.0, static_cast<double>(centers.size()) + 1);
  std::ranges::sort(centers);
  std::vector<double> widths;
  for (std::size_t i = 0; i < centers.size(); ++i) {
    const double left = centers[i] - (i == 0 ? 0 : centers[i - 1]);
    const double right = (i + 1 == centers.size() ? 1 : centers[i + 1]) - centers[i];
    widths.push_back(std::clamp(std::max(left, right), narrowest, 1.0));
  }
  centers.push_back(0.5);
  widths.push_back(1);
  const auto at = [centers, widths](double place) {
    double sum = 0;
    for (std::size_t i = 0; i < centers.size(); ++i) {
      const double z = (place - centers[i]) / widths[i];
      const double inside =
          normal_below((1 - centers[i]) / widths[i]) - normal_below(-centers[i] / widths[i]);
      sum += std::exp(-z * z / 2) / (widths[i] * inside);
    }
    return sum / static_cast<double>(centers.size());
  };
  const auto draw = [centers, widths](RandomStream& random) {
    const auto i = static_cast<std::size_t>(random.next_below(centers.size()));
    for (;;) {  // at least a third of the draws lie inside
      const double place = centers[i] + widths[i] * random.next_normal();
      if (place >= 0 && place <= 1) return place;
    }
  };
  return {at, draw};
}

/// The share of each choice, where every one counts once more than it occurs.
Density density_of_choices(const Setting& setting, const std::vector<const Json*>& values) {
  std::vector<double> counts(setting.choices.size(), 1);
  for (const Json* value : values)
    if (const auto found = std::ranges::find(setting.choices, *value); found != setting.choices.end())
      ++counts[static_cast<std::size_t>(found - setting.choices.begin())];
  double sum = 0;
  for (const double count : counts) sum += count;
  const auto at = [counts, sum](double choice) { return counts[static_cast<std::size_t>(choice)] / sum; };
  const auto draw = [counts, sum](RandomStream& random) {
    double place = random.next_uniform() * sum;
    std::size_t choice = 0;
    while (choice + 1 < counts.size() && place >= counts[choice]) place -= counts[choice++];
    return static_cast<double>(choice);
  };
  return {at, draw};
}

Density density_of(const Setting& setting, std::span<const Trial* const> runs) {
  std::vector<const Json*> values;  // of those runs that have the setting
  for (const Trial* run : runs)
    if (const Json* value = setting.value_in(*run)) values.push_back(value);
  if (setting.has_choices()) return density_of_choices(setting, values);
  std::vector<double> places;
  for (const Json* value : values) places.push_back(place_of(setting, *value));
  return density_of_numbers(std::move(places));
}

}  // namespace

Values tpe_draw(const SearchPlan& plan, std::span<const Trial> known, std::size_t number,
                std::uint64_t attempt) {
  constexpr double kGood = 0.15;
  constexpr int kDraws = 24;
  std::vector<const Trial*> runs;
  for (const Trial& run : known) runs.push_back(&run);
  std::ranges::stable_sort(
      runs, [&](const Trial* a, const Trial* b) { return is_better(plan, a->score(), b->score()); });
  const std::span<const Trial* const> sorted(runs);
  const auto good = static_cast<std::size_t>(std::ceil(kGood * static_cast<double>(runs.size())));
  std::vector<std::pair<Density, Density>> densities;  // of the good runs, and of the others
  for (const Setting& setting : plan.settings)
    densities.emplace_back(density_of(setting, sorted.first(good)),
                           density_of(setting, sorted.subspan(good)));
  RandomStream random(plan.seed, stream_name({fnv1a("search"), fnv1a("tpe"), number, attempt}));
  Values best;
  double most = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kDraws; ++i) {
    Draw draw(plan.identity.at("experiment"));
    double likelier = 0;
    for (std::size_t s = 0; s < plan.settings.size(); ++s) {
      if (!draw.holds_for(plan.settings[s])) continue;
      const auto& [of_good, of_others] = densities[s];
      const Setting& setting = plan.settings[s];
      const double place = of_good.draw(random);
      draw.push(setting, setting.has_choices() ? setting.choices[static_cast<std::size_t>(place)]
                                               : value_at(setting, place, kEvenly));
      likelier += std::log(of_good.at(place) / of_others.at(place));
    }
    if (likelier <= most) continue;
    most = likelier;
    best = draw.values();
  }
  return best;
}

}  // namespace lagtape::search
