#include "lagtape/tools/sweep/search/importance.h"

#include <algorithm>
#include <map>

namespace lagtape::search {
namespace {

using Runs = std::vector<const Trial*>;

/// The ranks of sorted runs, the mean of their places where runs are equally good.
std::vector<double> ranks_of(const SearchPlan& plan, const Runs& sorted) {
  std::vector<double> ranks(sorted.size());
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    while (end < sorted.size() && !is_better(plan, sorted[begin]->score(), sorted[end]->score())) ++end;
    const double mean = (static_cast<double>(begin) + static_cast<double>(end) - 1) / 2;
    std::fill(ranks.begin() + static_cast<std::ptrdiff_t>(begin),
              ranks.begin() + static_cast<std::ptrdiff_t>(end), mean);
  }
  return ranks;
}

/// The group of each run: equal values are in the same one.
std::vector<std::string> groups_of(const Setting& setting, const Runs& runs) {
  constexpr std::size_t kGroups = 4;
  std::vector<double> numbers;
  if (!setting.has_choices())
    for (const Trial* run : runs)
      if (const Json* value = setting.value_in(*run)) numbers.push_back(value->get<double>());
  std::ranges::sort(numbers);
  std::vector<std::string> groups;
  for (const Trial* run : runs) {
    const Json* value = setting.value_in(*run);
    if (value == nullptr) {
      groups.emplace_back();
    } else if (setting.has_choices()) {
      groups.push_back(value->dump_sorted());
    } else {
      const auto place =
          static_cast<std::size_t>(std::ranges::lower_bound(numbers, value->get<double>()) - numbers.begin());
      groups.push_back(std::to_string(place * kGroups / numbers.size()));
    }
  }
  return groups;
}

/// Epsilon squared: the sum of squares between groups less what chance puts there, over the whole one.
double explained(const std::vector<std::string>& groups, const std::vector<double>& ranks) {
  std::map<std::string, std::pair<double, double>>
      sums;  // by group: number of runs, and the sum of their ranks
  const auto runs = static_cast<double>(ranks.size());
  double mean = 0, whole = 0, between = 0;
  for (const double rank : ranks) mean += rank / runs;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    whole += (ranks[i] - mean) * (ranks[i] - mean);
    auto& [count, sum] = sums[groups[i]];
    count += 1;
    sum += ranks[i] - mean;
  }
  for (const auto& [group, of] : sums) between += of.second * of.second / of.first;
  const auto count = static_cast<double>(sums.size());
  if (whole == 0 || count >= runs) return 0;
  const double within = (whole - between) / (runs - count);
  return std::max(0.0, (between - (count - 1) * within) / whole);
}

}  // namespace

std::vector<std::pair<std::string, double>> importance(const SearchPlan& plan,
                                                       const std::vector<Trial>& trials) {
  constexpr std::size_t kFewest = 8;
  Runs runs;
  for (const Trial& trial : trials)
    if (trial.state == RunState::done) runs.push_back(&trial);
  std::vector<std::pair<std::string, double>> result;
  if (runs.size() < kFewest) return result;
  std::ranges::stable_sort(
      runs, [&](const Trial* a, const Trial* b) { return is_better(plan, a->score(), b->score()); });
  const std::vector<double> ranks = ranks_of(plan, runs);
  for (const Setting& setting : plan.settings)
    result.emplace_back(setting.pointer, explained(groups_of(setting, runs), ranks));
  std::ranges::stable_sort(result, std::ranges::greater(), &std::pair<std::string, double>::second);
  return result;
}

}  // namespace lagtape::search
