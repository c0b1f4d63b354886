#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "lagtape/core/quote.h"
#include "lagtape/tools/sweep/table/table_trials.h"
#include "lagtape/tools/view/table_charts.h"

namespace lagtape::table {

namespace {

std::string text_of_setting(const Json& value) {
  return value.is_string() ? value.get<std::string>() : fmt::format("{}", value.get<double>());
}

/// A row's numeric setting; null where it has none of this name.
const Json* number_of(const Row& row, const std::string& setting) {
  for (const auto& [name, value] : row.at)
    if (name == setting && value.is_number()) return &value;
  return nullptr;
}

/// The settings of a row but one and those in `common`, as one reads them: "layers 3, stacked".
std::string others_of(const Row& row, const std::string& setting, const std::set<std::string>& common = {}) {
  std::string text;
  for (const auto& [name, value] : row.at) {
    if (name == setting || common.contains(name)) continue;
    if (!text.empty()) text += ", ";
    text += value.is_string() ? text_of_setting(value) : name + " " + text_of_setting(value);
  }
  return text;
}

/// The settings that all rows have with one value: what a legend need not repeat.
std::set<std::string> common_settings(const std::vector<const Row*>& rows) {
  std::set<std::string> common;
  for (const auto& setting : rows.front()->at) {
    const auto has = [&](const Row* row) { return std::ranges::find(row->at, setting) != row->at.end(); };
    if (std::ranges::all_of(rows, has)) common.insert(setting.first);
  }
  return common;
}

/// The numbers of a row.
struct Point {
  double mean, deviation, printed;
};

/// The numbers of rows that are alike except for one setting.
using Group = std::vector<std::size_t>;

/// The rows that one setting distinguishes, at least two in each group.
std::vector<Group> groups_of(const PaperTable& table, const std::string& setting) {
  std::map<std::map<std::string, std::string>, Group> by_others;  // by the other settings, as JSON
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (number_of(table.rows[i], setting) == nullptr) continue;
    std::map<std::string, std::string> others;
    for (const auto& [name, value] : table.rows[i].at)
      if (name != setting) others.emplace(name, value.dump());
    by_others[others].push_back(i);
  }
  std::vector<Group> groups;
  for (auto& [others, group] : by_others)
    if (group.size() > 1) groups.push_back(std::move(group));
  return groups;
}

/// The values of each setting that is a number.
std::map<std::string, std::set<double>> numeric_settings(const PaperTable& table) {
  std::map<std::string, std::set<double>> settings;
  for (const Row& row : table.rows)
    for (const auto& [name, value] : row.at)
      if (value.is_number()) settings[name].insert(value.get<double>());
  return settings;
}

/// The names of the settings that two rows do not share.
std::set<std::string> differing_settings(const Row& one, const Row& other) {
  std::set<std::string> names;
  for (const auto& [row, beside] : {std::pair(&one, &other), std::pair(&other, &one)})
    for (const auto& setting : row->at)
      if (std::ranges::find(beside->at, setting) == beside->at.end()) names.insert(setting.first);
  return names;
}

void draw(Plot& plot, const std::string& name, const std::map<double, Point>& points) {
  PlotLine ours{.name = name.empty() ? "here" : name, .x = {}, .y = {}, .markers = true};
  PlotLine printed{.name = name.empty() ? "printed" : name + ", printed", .x = {}, .y = {}, .markers = true};
  PlotBand band{.name = "", .x = {}, .low = {}, .high = {}, .line = plot.lines.size()};
  for (const auto& [x, point] : points) {
    if (std::isfinite(point.mean)) {
      ours.x.push_back(x);
      ours.y.push_back(point.mean);
      band.low.push_back(point.mean - point.deviation);
      band.high.push_back(point.mean + point.deviation);
    }
    if (std::isfinite(point.printed)) {
      printed.x.push_back(x);
      printed.y.push_back(point.printed);
    }
  }
  band.x = ours.x;
  if (has_width(band)) plot.bands.push_back(std::move(band));
  if (!ours.x.empty()) plot.lines.push_back(std::move(ours));
  if (!printed.x.empty()) plot.lines.push_back(std::move(printed));
}

Plot against(const PaperTable& table, const std::vector<Outcome>& outcomes, const std::string& setting,
             const std::set<double>& values, const std::vector<Group>& groups) {
  constexpr double kDecade = 10;
  Plot plot{.title = table.title,
            .x = {.title = setting,
                  .log = *values.begin() > 0 && *values.rbegin() / *values.begin() > kDecade,
                  .room = 0.04},
            .y = {.title = "test " + table.unit, .log = !table.larger_is_better}};
  std::vector<const Row*> drawn;
  for (const Group& group : groups)
    for (const std::size_t i : group) drawn.push_back(&table.rows[i]);
  const std::set<std::string> common = common_settings(drawn);
  for (const Group& group : groups) {
    std::map<double, Point> points;
    for (const std::size_t i : group) {
      const Row& row = table.rows[i];
      const Outcome& outcome = outcomes[i];
      points[number_of(row, setting)->get<double>()] = {outcome.mean, outcome.deviation, row.printed};
    }
    draw(plot, others_of(table.rows[group.front()], setting, common), points);
  }
  explain_bands(plot);
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, Plot>> metric_against_settings(const PaperTable& table,
                                                                  const std::vector<Trial>& trials) {
  const std::vector<Outcome> outcomes = outcomes_of(table, trials);
  std::vector<std::pair<std::string, Plot>> charts;
  for (const auto& [name, values] : numeric_settings(table)) {
    const std::vector<Group> groups = groups_of(table, name);
    if (groups.empty()) continue;
    Plot plot = against(table, outcomes, name, values, groups);
    if (!plot.lines.empty()) charts.emplace_back(name, std::move(plot));
  }
  return charts;
}

std::string why_no_chart(const PaperTable& table) {
  for (const auto& setting : numeric_settings(table))
    if (!groups_of(table, setting.first).empty()) return "";
  const std::string file = (table.folder / "table.json").string();
  std::vector<const Row*> rows;
  for (const Row& row : table.rows)
    if (std::ranges::any_of(row.at, [](const auto& setting) { return setting.second.is_number(); }))
      rows.push_back(&row);
  if (rows.size() < 2)
    return fmt::format("no two rows of {} have numbers to draw against, such as \"at\": {{\"dt\": 0.1}}",
                       file);
  std::size_t nearest = 1;
  for (std::size_t i = 2; i < rows.size(); ++i)
    if (differing_settings(*rows[0], *rows[i]).size() < differing_settings(*rows[0], *rows[nearest]).size())
      nearest = i;
  return fmt::format("no two rows of {} differ in one number alone; {} and {} differ in {}", file,
                     quote(rows[0]->name), quote(rows[nearest]->name),
                     fmt::join(differing_settings(*rows[0], *rows[nearest]), " and "));
}

}  // namespace lagtape::table
