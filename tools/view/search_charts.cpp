#include "lagtape/tools/view/search_charts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/core/error.h"

namespace lagtape::search {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

std::string rounded(double value) { return fmt::format("{:.3g}", value); }

/// Whether a setting's values are numbers and not merely a list to choose from.
bool is_numeric(const Setting& setting) {
  return std::ranges::all_of(setting.choices, [](const Json& choice) { return choice.is_number(); });
}

/// A setting's values as numbers, the position in its list for words, and where they lie between their ends.
class Axis {
 public:
  Axis(const Setting& setting, const std::vector<Trial>& trials) : setting_(setting) {
    for (const Trial& trial : trials) {
      const double number = value_of(trial);
      numbers_.push_back(number);
      if (std::isnan(number)) continue;
      low_ = std::min(low_, number);
      high_ = std::max(high_, number);
    }
  }

  const Setting& setting() const { return setting_; }
  /// "0.001 to 0.1", the smallest and the largest value; words by their names.
  std::string ends() const {
    const auto text = [&](double value) {
      if (is_numeric(setting_)) return rounded(value);
      const Json& choice = setting_.choices[static_cast<std::size_t>(value)];
      return choice.is_string() ? choice.get<std::string>() : choice.dump();
    };
    return low_ < high_ ? text_of(text(low_), " to ", text(high_)) : text(low_);
  }
  /// The number in a run; NaN where the run does not have the setting.
  double number(std::size_t trial) const { return numbers_[trial]; }
  /// The same from 0 to 1.
  double place(std::size_t trial) const {
    const double value = numbers_[trial];
    if (std::isnan(value)) return kNothing;
    if (!(low_ < high_)) return 0.5;
    // The ratio of two values may overflow, the difference of logarithms does not.
    if (setting_.is_logarithmic())
      return (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_));
    return (value / 2 - low_ / 2) / (high_ / 2 - low_ / 2);
  }

 private:
  double value_of(const Trial& trial) const {
    const Json* value = setting_.value_in(trial);
    if (value == nullptr) return kNothing;
    if (is_numeric(setting_)) return value->get<double>();
    return static_cast<double>(std::ranges::find(setting_.choices, *value) - setting_.choices.begin());
  }

  const Setting& setting_;
  std::vector<double> numbers_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

/// The gap after each point makes it a dot.
void add_dot(PlotLine& line, double x, double y) {
  line.x.insert(line.x.end(), {x, kNothing});
  line.y.insert(line.y.end(), {y, kNothing});
}

Plot against(const SearchPlan& plan, const Axis& axis, const std::vector<Trial>& trials) {
  const Setting& setting = axis.setting();
  Plot plot{.title = text_of(plan.metric, " against ", name_of_setting(setting.pointer)),
            .x = {.title = name_of_setting(setting.pointer), .log = setting.is_logarithmic(), .room = 0.04},
            .y = {.title = plan.metric + " on valid", .log = !plan.larger_is_better}};
  if (!is_numeric(setting)) {
    plot.x.room = 0;  // names are half a place from the ends
    for (const Json& choice : setting.choices)
      plot.x.categories.push_back(choice.is_string() ? choice.get<std::string>() : choice.dump());
  }
  PlotLine done{.name = "to the end", .x = {}, .y = {}}, stopped{.name = "stopped early", .x = {}, .y = {}};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double x = axis.number(i);
    if (std::isnan(x) || std::isnan(trials[i].value)) continue;
    add_dot(trials[i].state == RunState::done ? done : stopped, x, trials[i].value);
  }
  for (PlotLine* line : {&done, &stopped})
    if (!line->x.empty()) plot.lines.push_back(std::move(*line));
  return plot;
}

Plot side_by_side(const SearchPlan& plan, const std::vector<Axis>& axes, const std::vector<Trial>& trials) {
  Plot plot{.title = "The settings of all runs",
            .subtitle = text_of("color: ", plan.metric,
                                " on valid, from the worst run in gray to the best in orange"),
            .y = {.title = "place between the ends", .min = 0, .max = 1},
            .legend_below = true};
  for (const Axis& axis : axes) {
    plot.x.categories.push_back(name_of_setting(axis.setting().pointer) +
                                (axis.setting().is_logarithmic() ? " (logarithmic)" : ""));
    plot.x.below.push_back(axis.ends());
  }
  std::vector<std::size_t> sorted;
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (!std::isnan(trials[i].value)) sorted.push_back(i);
  std::ranges::stable_sort(sorted, [&](std::size_t a, std::size_t b) {
    return is_better(plan, trials[a].score(), trials[b].score());
  });
  for (std::size_t rank = sorted.size(); rank-- > 0;) {  // the best last, on top of the others
    const std::size_t trial = sorted[rank];
    PlotLine line{.name = rank < 3 || rank + 1 == sorted.size()
                              ? text_of("run ", trials[trial].folder.filename().string(), ": ",
                                        rounded(trials[trial].value))
                              : "",
                  .x = {},
                  .y = {}};
    line.shade =
        sorted.size() > 1 ? 1 - static_cast<double>(rank) / static_cast<double>(sorted.size() - 1) : 1;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      line.x.push_back(static_cast<double>(i));
      line.y.push_back(axes[i].place(trial));
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, Plot>> charts_of(const SearchPlan& plan,
                                                    const std::vector<Trial>& trials) {
  std::vector<Axis> axes;
  std::vector<std::pair<std::string, Plot>> charts;
  for (const Setting& setting : plan.settings) {
    Axis axis(setting, trials);
    Plot plot = against(plan, axis, trials);
    if (plot.lines.empty()) continue;  // no run has the setting and a number
    charts.emplace_back(name_of_setting(setting.pointer), std::move(plot));
    axes.push_back(std::move(axis));
  }
  if (!axes.empty()) charts.emplace_back("settings", side_by_side(plan, axes, trials));
  return charts;
}

}  // namespace lagtape::search
