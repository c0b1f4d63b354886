#include "lagtape/tools/search/search_charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/core/error.h"

namespace lagtape::search {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

std::string name_of(const Setting& setting) {
  std::string name = setting.pointer.substr(1);
  std::ranges::replace(name, '/', '.');
  return name;
}

bool is_logarithmic(const Setting& setting) {
  return setting.kind == Setting::Kind::log_uniform || setting.kind == Setting::Kind::log_integers;
}

/// Whether a setting's values are numbers and not merely a list to choose from.
bool is_numeric(const Setting& setting) {
  return std::ranges::all_of(setting.choices, [](const Json& choice) { return choice.is_number(); });
}

/// A setting's value in a run as a number, the position in its list for words; NaN where the run does not have it.
double number_of(const Setting& setting, const Trial& trial) {
  for (const auto& [pointer, value] : trial.values) {
    if (pointer != setting.pointer) continue;
    if (is_numeric(setting)) return value.get<double>();
    return static_cast<double>(std::ranges::find(setting.choices, value) - setting.choices.begin());
  }
  return kNothing;
}

/// The gap after each point makes it a dot.
void add_dot(PlotLine& line, double x, double y) {
  line.x.insert(line.x.end(), {x, kNothing});
  line.y.insert(line.y.end(), {y, kNothing});
}

Plot against(const SearchPlan& plan, const Setting& setting, const std::vector<Trial>& trials) {
  Plot plot{.title = text_of(plan.metric, " against ", name_of(setting)),
            .x = {.title = name_of(setting), .log = is_logarithmic(setting), .room = 0.04},
            .y = {.title = plan.metric + " on valid", .log = !plan.larger_is_better, .room = 0.04}};
  if (!is_numeric(setting)) {
    plot.x.room = 0;  // names stand half a place from the ends
    for (const Json& choice : setting.choices)
      plot.x.categories.push_back(choice.is_string() ? choice.get<std::string>() : choice.dump());
  }
  PlotLine done{.name = "to the end", .x = {}, .y = {}}, stopped{.name = "stopped early", .x = {}, .y = {}};
  for (const Trial& trial : trials) {
    const double x = number_of(setting, trial);
    if (std::isnan(x) || std::isnan(trial.value)) continue;
    add_dot(trial.state == TrialState::done ? done : stopped, x, trial.value);
  }
  plot.lines.push_back(std::move(done));
  if (!stopped.x.empty()) plot.lines.push_back(std::move(stopped));
  return plot;
}

/// Where a value lies on the axis of its setting, from 0 to 1.
double place_of(const Setting& setting, const std::vector<Trial>& trials, double value) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Trial& trial : trials) {
    const double number = number_of(setting, trial);
    if (std::isnan(number)) continue;
    low = std::min(low, number);
    high = std::max(high, number);
  }
  if (!(low < high)) return 0.5;
  if (is_logarithmic(
          setting)) {  // the ratio of two values may overflow, the difference of logarithms does not
    return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  }
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

Plot side_by_side(const SearchPlan& plan, const std::vector<Trial>& trials) {
  Plot plot{.title = "the settings of all runs, each axis from its smallest to its largest value",
            .y = {.title = "place in the range", .min = 0, .max = 1}};
  for (const Setting& setting : plan.settings) plot.x.categories.push_back(name_of(setting));
  std::vector<const Trial*> sorted;
  for (const Trial& trial : trials)
    if (!std::isnan(trial.value)) sorted.push_back(&trial);
  std::ranges::stable_sort(
      sorted, [&](const Trial* a, const Trial* b) { return is_better(plan, a->value, b->value); });
  for (std::size_t rank = sorted.size(); rank-- > 0;) {  // the best last, on top of the others
    PlotLine line{
        .name = rank < 3 ? text_of("run ", sorted[rank]->folder.filename().string()) : "", .x = {}, .y = {}};
    line.faint = rank >= 3;
    for (std::size_t i = 0; i < plan.settings.size(); ++i) {
      const double number = number_of(plan.settings[i], *sorted[rank]);
      line.x.push_back(static_cast<double>(i));
      line.y.push_back(std::isnan(number) ? kNothing : place_of(plan.settings[i], trials, number));
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, Plot>> charts_of(const SearchPlan& plan,
                                                    const std::vector<Trial>& trials) {
  std::vector<std::pair<std::string, Plot>> charts;
  for (const Setting& setting : plan.settings)
    charts.emplace_back(name_of(setting), against(plan, setting, trials));
  charts.emplace_back("settings", side_by_side(plan, trials));
  return charts;
}

}  // namespace lagtape::search
