#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "lagtape/core/error.h"
#include "lagtape/tools/analysis/comparison.h"
#include "lagtape/tools/report/metrics_lines.h"
#include "lagtape/tools/report/report_page.h"
#include "lagtape/tools/report/run_report.h"
#include "lagtape/tools/train/metrics.h"

namespace lagtape::report {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> runs_below(const fs::path& folder) {
  std::vector<fs::path> runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && fs::exists(entry.path() / "experiment.json")) runs.push_back(entry.path());
  std::ranges::sort(runs);
  return runs;
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_number()) return fmt::format("{:g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void write_comparison(ReportPage& page, const Comparison& comparison) {
  std::vector<std::string> head = {"runs"};
  for (const std::string& pointer : comparison.differing) head.push_back(pointer.substr(1));
  std::vector<std::string> numbers;
  for (const ComparedRuns& group : comparison.groups)
    for (const auto& [name, value] : group.numbers)
      if (std::ranges::find(numbers, name) == numbers.end()) numbers.push_back(name);
  head.insert(head.end(), numbers.begin(), numbers.end());
  std::vector<std::vector<std::string>> rows;
  for (const ComparedRuns& group : comparison.groups) {
    rows.push_back({group.name()});
    for (const Json& setting : group.settings) rows.back().push_back(value_text(setting));
    for (const std::string& name : numbers) {
      const auto found =
          std::ranges::find(group.numbers, name, [](const auto& number) { return number.first; });
      const bool several = group.finished > 1 && found != group.numbers.end() && found->second.second > 0;
      rows.back().push_back(found == group.numbers.end() ? "-"
                            : several
                                ? fmt::format("{:.6g} +- {:.2g}", found->second.first, found->second.second)
                                : fmt::format("{:.6g}", found->second.first));
    }
  }
  page.table(head, rows);
}

std::string name_of(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.filename().empty() ? whole.parent_path().filename().string() : whole.filename().string();
}

/// The key of results.jsonl that is the metric of the search.
std::string metric_in(const std::vector<Json>& results) {
  for (const Json& row : results)
    for (const auto& [key, value] : row.items())
      if (key == "loss" || find_metric(key)) return key;
  return "loss";
}

/// A dot for each run: the metric against a setting that is a number.
Plot against(const std::vector<Json>& results, const std::string& setting, const std::string& metric,
             bool larger) {
  Plot plot{.title = text_of(metric, " against ", setting.substr(1)),
            .x = {.title = setting.substr(1), .room = 0.04},
            .y = {.title = metric + " on the validation set", .log = !larger, .room = 0.04}};
  PlotLine dots;
  double least = INFINITY, most = 0;
  for (const Json& row : results) {
    const Json* x = row.at("settings").find(setting);
    const Json y = row.value(metric, Json());
    if (x == row.at("settings").end() || !x->is_number() || !y.is_number()) continue;
    dots.x.insert(dots.x.end(), {x->get<double>(), NAN});
    dots.y.insert(dots.y.end(), {y.get<double>(), NAN});
    least = std::min(least, x->get<double>());
    most = std::max(most, x->get<double>());
  }
  plot.x.log = least > 0 && most > 20 * least;  // such a range was hardly drawn evenly
  if (larger) plot.y.max = 1;
  plot.lines.push_back(std::move(dots));
  return plot;
}

}  // namespace

std::string folder_page(const fs::path& folder) {
  const std::vector<fs::path> runs = runs_below(folder);
  if (runs.empty())
    throw InputError(
        text_of(folder.string(), ": is neither a run nor a search, and no folder in it is a run."));
  const Comparison comparison = compare_runs(runs);
  ReportPage page(text_of(name_of(folder), ": ", runs.size(), " runs"));
  page.paragraph("Runs that differ in their seeds alone are one row: means with sample deviations.");
  write_comparison(page, comparison);
  page.heading("Learning");
  for (const std::string& metric : common_metrics(comparison))
    page.chart(compared_curves(comparison, metric));
  page.heading("How to repeat it");
  page.code(text_of("lagtape train ", (runs.front() / "experiment.json").string(),
                    " --out again\nlagtape report ", runs.front().string(), " --output run.html"));
  return page.html();
}

std::string search_page(const fs::path& folder) {
  std::vector<Json> results = lines_of(folder / "results.jsonl");
  std::erase_if(results, [](const Json& row) { return !row.contains("settings") || !row.contains("run"); });
  if (results.empty()) throw InputError(text_of(folder.string(), ": the search has no runs yet."));
  const std::string metric = metric_in(results);
  const bool larger = metric != "loss" && lagtape::metric(metric).larger_is_better;
  const auto rank = [&](const Json& row) {
    const Json value = row.value(metric, Json());
    if (!value.is_number()) return INFINITY;
    return static_cast<float>(larger ? -value.get<double>() : value.get<double>());
  };
  std::ranges::stable_sort(results, {}, rank);
  ReportPage page(text_of(name_of(folder), ": a search of ", results.size(), " runs"));
  std::vector<std::string> settings;
  for (const Json& row : results)
    for (const auto& [pointer, value] : row.at("settings").items())
      if (std::ranges::find(settings, pointer) == settings.end()) settings.push_back(pointer);
  std::vector<std::string> head = {"run", "state", metric};
  for (const std::string& setting : settings) head.push_back(setting.substr(1));
  std::vector<std::vector<std::string>> rows;
  std::vector<fs::path> best;
  for (const Json& row : results) {
    const std::string name = row.at("run").get<std::string>();
    rows.push_back({name, value_text(row.value("state", Json())), number_text(row.value(metric, Json()))});
    for (const std::string& setting : settings)
      rows.back().push_back(value_text(row.at("settings").value(setting, Json())));
    if (best.size() < 5 && fs::exists(folder / "runs" / name / "metrics.jsonl"))
      best.push_back(folder / "runs" / name);
  }
  page.table(head, rows);
  page.heading("Settings");
  for (const std::string& setting : settings) {
    Plot plot = against(results, setting, metric, larger);
    if (!plot.lines[0].x.empty()) page.chart(std::move(plot));
  }
  if (!best.empty()) {
    page.heading("Learning of the best runs");
    const Comparison comparison = compare_runs(best);
    for (const std::string& name : common_metrics(comparison)) page.chart(compared_curves(comparison, name));
  }
  page.heading("How to repeat it");
  page.code(text_of("lagtape report ", (folder / "best").string(), " --output best.html\nlagtape train ",
                    (folder / "best" / "experiment.json").string(), " --out again"));
  return page.html();
}

}  // namespace lagtape::report
