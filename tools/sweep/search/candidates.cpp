#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "lagtape/core/hash.h"
#include "lagtape/core/random.h"
#include "lagtape/tools/sweep/search/places.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {
namespace {

/// A number with four significant digits, which is what a table shows: the run has just the number that is read.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3e", value);
  return std::strtod(text, nullptr);
}

/// The value of a range at a place from 0 to 1. `stretch`: how far whole numbers reach beyond their ends.
Json value_at(const Setting& setting, double place, double stretch) {
  using Kind = Setting::Kind;
  if (setting.kind == Kind::choices) {
    const auto count = static_cast<double>(setting.choices.size());
    return setting.choices[static_cast<std::size_t>(std::min(place * count, count - 1))];
  }
  const bool whole = setting.kind == Kind::integers || setting.kind == Kind::log_integers;
  const bool logarithmic = setting.kind == Kind::log_uniform || setting.kind == Kind::log_integers;
  const double low = setting.low - (whole ? stretch : 0), high = setting.high + (whole ? stretch : 0);
  // The ratio of the bounds may overflow where the difference of their logarithms does not.
  const double value = logarithmic ? std::exp(std::log(low) + (std::log(high) - std::log(low)) * place)
                                   : low + (high - low) * place;
  if (whole) return static_cast<std::int64_t>(std::clamp(std::round(value), setting.low, setting.high));
  return std::clamp(rounded(value), setting.low, setting.high);
}

/// The values drawn so far, on which the conditions of the next settings depend.
class Draw {
 public:
  explicit Draw(const Json& experiment) : experiment_(experiment) {}

  void push(const Setting& setting, Json value) {
    places_.add(setting.pointer, values_.size());
    values_.emplace_back(setting.pointer, std::move(value));
  }
  void pop() {
    places_.remove(values_.back().first);
    values_.pop_back();
  }
  bool holds_for(const Setting& setting) const {
    if (setting.condition.empty()) return true;
    const Json* value = value_at(setting.condition);
    return value != nullptr &&
           std::ranges::find(setting.condition_values, *value) != setting.condition_values.end();
  }
  const Values& values() const { return values_; }

 private:
  const Json* value_at(const std::string& pointer) const {
    const std::size_t* drawn = places_.around(pointer);
    if (drawn == nullptr) return experiment_.find_pointer(pointer);
    const auto& [place, value] = values_[*drawn];
    return value.find_pointer(pointer.substr(place.size()));
  }

  const Json& experiment_;
  Values values_;
  Places places_;
};

Values drawn(const SearchPlan& plan, const Json& experiment, std::uint64_t run, std::uint64_t attempt) {
  Draw all(experiment);
  for (const Setting& setting : plan.settings) {
    if (!all.holds_for(setting)) continue;
    RandomStream draw(plan.seed, stream_name({fnv1a("search"), fnv1a(setting.pointer), run, attempt}));
    // Every integer has a stretch of the same width, from half below it to half above.
    all.push(setting, value_at(setting, draw.next_uniform(), 0.5));
  }
  return all.values();
}

/// The values of a setting on a grid, from the smallest to the largest.
std::vector<Json> grid_values(const Setting& setting) {
  if (setting.kind == Setting::Kind::choices) return setting.choices;
  const auto all = static_cast<std::int64_t>(setting.high - setting.low) + 1;
  const std::int64_t points = setting.points > 0 ? setting.points : all;
  std::vector<Json> values;
  for (std::int64_t i = 0; i < points; ++i) {
    const double place = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 0;
    if (setting.kind == Setting::Kind::integers && points == all) {
      values.emplace_back(static_cast<std::int64_t>(setting.low) + i);
      continue;
    }
    const Json value = value_at(setting, place, 0);
    if (values.empty() || values.back() != value) values.push_back(value);
  }
  return values;
}

/// The combinations of a grid, the last setting first to change. It walks through the settings without calling itself,
/// since a call for each of very many settings takes more than the stack has.
class Grid {
 public:
  explicit Grid(const SearchPlan& plan) : plan_(plan), draw_(plan.identity.at("experiment")) {
    for (const Setting& setting : plan.settings) levels_.push_back({.values = grid_values(setting)});
  }

  std::vector<Values> combinations() {
    // One more than a search may have tells that there are too many.
    const std::int64_t most = plan_.runs > 0 ? plan_.runs : most_runs(plan_) + 1;
    std::vector<Values> all;
    std::size_t setting = 0;
    while (std::ssize(all) < most) {
      if (setting < levels_.size() && advance(setting)) {
        ++setting;
        continue;
      }
      if (setting == levels_.size()) all.push_back(draw_.values());
      if (setting == 0) break;
      --setting;
      if (levels_[setting].exists) draw_.pop();
    }
    return all;
  }

 private:
  struct Level {
    std::vector<Json> values;
    std::size_t next = 0;  ///< the number of the value that comes next
    bool exists = true;    ///< whether the setting's condition holds with the values before it
  };

  /// Takes a setting's next value. False, and back to its first one, when there is none.
  bool advance(std::size_t setting) {
    Level& level = levels_[setting];
    if (level.next == 0) level.exists = draw_.holds_for(plan_.settings[setting]);
    if (level.next == (level.exists ? level.values.size() : 1)) {
      level.next = 0;
      return false;
    }
    if (level.exists) draw_.push(plan_.settings[setting], level.values[level.next]);
    ++level.next;
    return true;
  }

  const SearchPlan& plan_;
  std::vector<Level> levels_;  // by setting
  Draw draw_;                  // the values of the settings before the present one
};

}  // namespace

std::int64_t most_runs(const SearchPlan& plan) {
  constexpr std::int64_t kMostBytes = 128'000'000, kNumber = 64;
  std::int64_t bytes = 0;  // of a run's values
  for (const Setting& setting : plan.settings) {
    std::int64_t longest = kNumber;
    for (const Json& choice : setting.choices) longest = std::max(longest, std::ssize(choice.dump()));
    bytes += longest;
  }
  return std::clamp<std::int64_t>(kMostBytes / bytes, 1, kMostRuns);
}

std::vector<Values> candidates(const SearchPlan& plan) {
  constexpr std::size_t kDraws = 2'000'000;
  const std::uint64_t attempts = std::clamp<std::size_t>(kDraws / plan.settings.size(), 20, 1000);
  const Json& experiment = plan.identity.at("experiment");
  std::vector<Values> all;
  if (plan.method == Method::grid) return Grid(plan).combinations();
  std::set<std::string> known;
  for (std::int64_t run = 0; run < plan.runs; ++run) {
    std::uint64_t attempt = 0;
    Values values = drawn(plan, experiment, static_cast<std::uint64_t>(run), attempt);
    while (!known.insert(text_of_values(values)).second && attempt < attempts)
      values = drawn(plan, experiment, static_cast<std::uint64_t>(run), ++attempt);
    if (attempt == attempts) break;  // the ranges are used up
    all.push_back(std::move(values));
  }
  return all;
}

}  // namespace lagtape::search
