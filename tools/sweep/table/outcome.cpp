#include "lagtape/tools/sweep/table/outcome.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/tools/analysis/comparison.h"

namespace lagtape::table {

int Outcome::count(RunState state) const {
  return static_cast<int>(
      std::count_if(runs.begin(), runs.end(), [state](const Run* run) { return run->state == state; }));
}

Outcome outcome_of(const PaperTable& table, std::size_t row, const std::vector<Run>& runs) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Outcome outcome{.runs = {}, .values = {}, .mean = kNan, .deviation = kNan, .best = kNan};
  outcome.params = table.rows[row].parameters;
  for (const Run& run : runs) {
    if (run.row != row) continue;
    outcome.runs.push_back(&run);
    outcome.params = std::max(outcome.params, run.params);
    if (run.state != RunState::done) continue;
    outcome.values.push_back(run.value * table.scale);
    outcome.seconds += run.seconds;
  }
  if (outcome.values.empty()) return outcome;
  const auto n = static_cast<double>(outcome.values.size());
  const auto [mean, deviation] = mean_and_deviation(outcome.values);
  outcome.mean = mean;
  if (n > 1) outcome.deviation = deviation;
  outcome.seconds /= n;
  const auto [least, most] = std::minmax_element(outcome.values.begin(), outcome.values.end());
  outcome.best = table.larger_is_better ? *most : *least;
  return outcome;
}

std::string parameter_difference(const Row& row, const Outcome& outcome) {
  constexpr double kAllowed = 0.05 + 1e-9;  // exactly 5 % is allowed
  if (row.printed_parameters == 0 || outcome.params == 0) return {};
  const double ratio = static_cast<double>(outcome.params) / static_cast<double>(row.printed_parameters);
  if (std::abs(ratio - 1) <= kAllowed) return {};
  return fmt::format("{} parameters beside {} printed, {:.0f} % {}", outcome.params, row.printed_parameters,
                     100 * std::abs(ratio - 1), ratio < 1 ? "fewer" : "more");
}

}  // namespace lagtape::table
