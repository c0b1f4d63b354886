#include <algorithm>
#include <set>
#include <utility>

#include "lagtape/core/hash.h"
#include "lagtape/core/random.h"
#include "lagtape/tools/sweep/search/draw.h"
#include "lagtape/tools/sweep/search/search_plan.h"

namespace lagtape::search {
namespace {

/// The values of a setting on a grid, from the smallest to the largest.
std::vector<Json> grid_values(const Setting& setting) {
  if (setting.has_choices()) return setting.choices;
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
  Grid(const SearchPlan& plan, std::vector<Json> (*values)(const Setting&))
      : plan_(plan), draw_(plan.identity.at("experiment")) {
    for (const Setting& setting : plan.settings) levels_.push_back({.values = values(setting)});
  }

  /// The first ones, at most so many.
  std::vector<Values> combinations(std::int64_t most) {
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

/// All values of a setting, of which there are finitely many.
std::vector<Json> all_values(const Setting& setting) {
  Setting every = setting;
  every.points = 0;
  if (!setting.has_choices()) every.kind = Setting::Kind::integers;
  return grid_values(every);
}

/// Whether the ranges have so few combinations that all can be listed.
bool are_few(const SearchPlan& plan) {
  double combinations = 1;
  for (const Setting& setting : plan.settings) {
    if (!setting.has_choices() && !setting.is_whole()) return false;
    combinations *=
        setting.has_choices() ? static_cast<double>(setting.choices.size()) : setting.high - setting.low + 1;
  }
  return combinations <= static_cast<double>(most_runs(plan));
}

/// Adds what the ranges have and was not drawn, in random order, until there are enough runs.
void add_rest(const SearchPlan& plan, std::int64_t runs, std::set<std::string>& known,
              std::vector<Values>& all) {
  if (!are_few(plan)) return;
  std::vector<Values> rest = Grid(plan, all_values).combinations(kMostRuns);
  std::erase_if(rest, [&](const Values& values) { return !known.insert(text_of_values(values)).second; });
  RandomStream random(plan.seed, stream_name({fnv1a("search"), fnv1a("rest")}));
  for (const std::int64_t place : permutation(std::ssize(rest), random)) {
    if (std::ssize(all) == runs) return;
    all.push_back(std::move(rest[static_cast<std::size_t>(place)]));
  }
}

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
  // One more than a search may have shows that there are too many.
  if (plan.method == Method::grid)
    return Grid(plan, grid_values).combinations(plan.runs > 0 ? plan.runs : most_runs(plan) + 1);
  const std::int64_t runs = plan.method == Method::tpe ? std::min(plan.runs, plan.tpe.startup) : plan.runs;
  std::vector<Values> all;
  std::set<std::string> known;
  for (std::int64_t run = 0; run < runs; ++run) {
    std::uint64_t attempt = 0;
    Values values = random_draw(plan, static_cast<std::uint64_t>(run), attempt);
    while (!known.insert(text_of_values(values)).second && attempt < attempts)
      values = random_draw(plan, static_cast<std::uint64_t>(run), ++attempt);
    if (attempt == attempts) {  // the ranges are used up, or nearly so
      add_rest(plan, runs, known, all);
      break;
    }
    all.push_back(std::move(values));
  }
  return all;
}

}  // namespace lagtape::search
