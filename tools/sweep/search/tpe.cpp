#include "lagtape/tools/sweep/search/tpe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <variant>
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

/// A density on [0, 1]: the mean of normal densities cut off at its ends, one at each place, as wide as its farther
/// neighbor is away, and one as wide as the range for what is not known.
class ParzenDensity {
 public:
  explicit ParzenDensity(std::vector<double> places) : centers_(std::move(places)) {
    const double narrowest = 1 / std::min(100.0, static_cast<double>(centers_.size()) + 1);
    std::ranges::sort(centers_);
    for (std::size_t i = 0; i < centers_.size(); ++i) {
      const double left = centers_[i] - (i == 0 ? 0 : centers_[i - 1]);
      const double right = (i + 1 == centers_.size() ? 1 : centers_[i + 1]) - centers_[i];
      widths_.push_back(std::clamp(std::max(left, right), narrowest, 1.0));
    }
    centers_.push_back(0.5);
    widths_.push_back(1);
  }

  double operator()(double place) const {
    double sum = 0;
    for (std::size_t i = 0; i < centers_.size(); ++i) {
      const double z = (place - centers_[i]) / widths_[i];
      const double inside =
          normal_below((1 - centers_[i]) / widths_[i]) - normal_below(-centers_[i] / widths_[i]);
      sum += std::exp(-z * z / 2) / (widths_[i] * inside);
    }
    return sum / static_cast<double>(centers_.size());
  }

  double draw(RandomStream& random) const {
    const auto i = static_cast<std::size_t>(random.next_below(centers_.size()));
    for (;;) {  // at least a third of the draws lie inside
      const double place = centers_[i] + widths_[i] * random.next_normal();
      if (place >= 0 && place <= 1) return place;
    }
  }

 private:
  std::vector<double> centers_, widths_;
};

/// The share of each choice, where every one counts once more than it occurs.
class ChoiceDensity {
 public:
  ChoiceDensity(const Setting& setting, const std::vector<const Json*>& values)
      : counts_(setting.choices.size(), 1) {
    for (const Json* value : values)
      if (const auto found = std::ranges::find(setting.choices, *value); found != setting.choices.end())
        ++counts_[static_cast<std::size_t>(found - setting.choices.begin())];
    for (const double count : counts_) sum_ += count;
  }

  double operator()(std::size_t choice) const { return counts_[choice] / sum_; }
  std::size_t draw(RandomStream& random) const {
    double place = random.next_uniform() * sum_;
    std::size_t choice = 0;
    while (choice + 1 < counts_.size() && place >= counts_[choice]) place -= counts_[choice++];
    return choice;
  }

 private:
  std::vector<double> counts_;
  double sum_ = 0;
};

/// A setting's densities: of the good runs, and of the others.
struct Densities {
  std::variant<ParzenDensity, ChoiceDensity> good, others;
};

std::variant<ParzenDensity, ChoiceDensity> density_of(const Setting& setting,
                                                      std::span<const Trial* const> runs) {
  std::vector<const Json*> values;  // of those runs that have the setting
  for (const Trial* run : runs)
    if (const Json* value = setting.value_in(*run)) values.push_back(value);
  if (setting.has_choices()) return ChoiceDensity(setting, values);
  std::vector<double> places;
  for (const Json* value : values) places.push_back(place_of(setting, *value));
  return ParzenDensity(std::move(places));
}

/// A value of the good runs' density, and the logarithm of how much likelier it is there than among the others.
std::pair<Json, double> drawn_from(const Densities& densities, const Setting& setting, RandomStream& random) {
  if (const auto* good = std::get_if<ChoiceDensity>(&densities.good)) {
    const std::size_t choice = good->draw(random);
    return {setting.choices[choice],
            std::log((*good)(choice) / std::get<ChoiceDensity>(densities.others)(choice))};
  }
  const auto& good = std::get<ParzenDensity>(densities.good);
  const double place = good.draw(random);
  return {value_at(setting, place, kEvenly),
          std::log(good(place) / std::get<ParzenDensity>(densities.others)(place))};
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
  std::vector<Densities> densities;
  for (const Setting& setting : plan.settings)
    densities.push_back({density_of(setting, sorted.first(good)), density_of(setting, sorted.subspan(good))});
  RandomStream random(plan.seed, stream_name({fnv1a("search"), fnv1a("tpe"), number, attempt}));
  Values best;
  double most = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kDraws; ++i) {
    Draw draw(plan.identity.at("experiment"));
    double likelier = 0;
    for (std::size_t s = 0; s < plan.settings.size(); ++s) {
      if (!draw.holds_for(plan.settings[s])) continue;
      auto [value, more] = drawn_from(densities[s], plan.settings[s], random);
      draw.push(plan.settings[s], std::move(value));
      likelier += more;
    }
    if (likelier <= most) continue;
    most = likelier;
    best = draw.values();
  }
  return best;
}

}  // namespace lagtape::search
