#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "lagtape/tools/table/bands.h"
#include "lagtape/tools/table/report.h"

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

/// Rows that are alike but for one setting: their points by its value.
struct Group {
  std::vector<const Row*> rows;
  std::map<double, Point> points;
};

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

Plot against(const PaperTable& table, const std::vector<Run>& runs, const std::string& setting,
             const std::set<double>& values) {
  constexpr double kDecade = 10;
  Plot plot{.title = table.title,
            .x = {.title = setting,
                  .log = *values.begin() > 0 && *values.rbegin() / *values.begin() > kDecade,
                  .room = 0.04},
            .y = {.title = "test " + table.unit, .log = !table.larger_is_better, .room = 0.04}};
  std::map<std::map<std::string, std::string>, Group> groups;  // by their other settings, as JSON
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row& row = table.rows[i];
    const Json* at = number_of(row, setting);
    if (at == nullptr) continue;
    const Outcome outcome = outcome_of(table, i, runs);
    std::map<std::string, std::string> others;
    for (const auto& [name, value] : row.at)
      if (name != setting) others.emplace(name, value.dump());
    Group& group = groups[others];
    group.rows.push_back(&row);
    group.points[at->get<double>()] = {outcome.mean, outcome.deviation, row.printed};
  }
  std::erase_if(groups, [](const auto& group) { return group.second.points.size() < 2; });
  std::vector<const Row*> drawn;
  for (const auto& [settings, group] : groups)
    drawn.insert(drawn.end(), group.rows.begin(), group.rows.end());
  for (const auto& [settings, group] : groups)
    draw(plot, others_of(*group.rows.front(), setting, common_settings(drawn)), group.points);
  explain_bands(plot);
  return plot;
}

}  // namespace

std::vector<std::pair<std::string, Plot>> metric_against_settings(const PaperTable& table,
                                                                  const std::vector<Run>& runs) {
  std::map<std::string, std::set<double>> settings;
  for (const Row& row : table.rows)
    for (const auto& [name, value] : row.at)
      if (value.is_number()) settings[name].insert(value.get<double>());
  std::vector<std::pair<std::string, Plot>> charts;
  for (const auto& [name, values] : settings) {
    if (values.size() < 2) continue;
    Plot plot = against(table, runs, name, values);
    if (!plot.lines.empty()) charts.emplace_back(name, std::move(plot));
  }
  return charts;
}

}  // namespace lagtape::table
