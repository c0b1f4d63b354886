#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/analysis/comparison.h"
#include "lagtape/tools/report/metrics_lines.h"
#include "lagtape/tools/report/report_page.h"
#include "lagtape/tools/report/run_report.h"
#include "lagtape/tools/train/json_lines.h"
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

/// A table shows at most so many columns of settings or numbers.
constexpr std::size_t kMostColumns = 60;

/// A JSON Pointer for readers: "optimizer/lr".
std::string setting_name(const std::string& pointer) {
  return pointer.starts_with('/') ? pointer.substr(1) : pointer;
}

/// The columns that a table shows, in their order: those that most rows have. `counts` says how many have each one.
std::vector<std::size_t> shown_columns(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> columns(counts.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  if (columns.size() <= kMostColumns) return columns;
  std::ranges::stable_sort(columns, std::greater(), [&](std::size_t column) { return counts[column]; });
  columns.resize(kMostColumns);
  std::ranges::sort(columns);
  return columns;
}

void say_what_is_left_out(ReportPage& page, std::size_t all, std::size_t shown, const char* what) {
  if (all > shown)
    page.paragraph(text_of("There are ", all, " ", what, ". Shown are the ", shown, " that most runs have; ",
                           all - shown, " are left out."));
}

std::string number_with_deviation(const std::pair<double, double>* number, bool several) {
  if (number == nullptr) return "-";
  const auto& [mean, deviation] = *number;
  return several && deviation > 0 ? fmt::format("{:.6g} +- {:.2g}", mean, deviation)
                                  : fmt::format("{:.6g}", mean);
}

void write_comparison(ReportPage& page, const Comparison& comparison) {
  const std::vector<std::string> names = names_of_numbers(comparison);
  std::vector<std::size_t> with_setting(comparison.differing.size()), with_number(names.size());
  for (const ComparedRuns& group : comparison.groups) {
    for (std::size_t i = 0; i < with_setting.size(); ++i)
      with_setting[i] += group.settings[i].is_null() ? 0 : 1;
    const auto numbers = group.numbers_at(names);
    for (std::size_t i = 0; i < names.size(); ++i) with_number[i] += numbers[i] == nullptr ? 0 : 1;
  }
  const std::vector<std::size_t> settings = shown_columns(with_setting), columns = shown_columns(with_number);
  std::vector<std::string> head = {"runs"};
  for (const std::size_t i : settings) head.push_back(setting_name(comparison.differing[i]));
  for (const std::size_t i : columns) head.push_back(names[i]);
  std::vector<std::vector<std::string>> rows;
  for (const ComparedRuns& group : comparison.groups) {
    rows.push_back({group.name()});
    for (const std::size_t i : settings) rows.back().push_back(value_text(group.settings[i]));
    const auto numbers = group.numbers_at(names);
    for (const std::size_t i : columns)
      rows.back().push_back(number_with_deviation(numbers[i], group.finished > 1));
  }
  say_what_is_left_out(page, with_setting.size(), settings.size(), "settings that differ");
  say_what_is_left_out(page, names.size(), columns.size(), "numbers");
  page.table(head, rows);
}

std::string name_of(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.filename().empty() ? whole.parent_path().filename().string() : whole.filename().string();
}

/// A run of a search, as a line of results.jsonl says.
struct SearchRun {
  std::string name;
  Json state, settings, value;  ///< `value` is the search's metric
  double rank = INFINITY;       ///< the smaller, the better
};

/// The lines of results.jsonl that are runs. Throws InputError for one whose name or settings are none.
std::vector<Json> lines_of_runs(const fs::path& file) {
  std::vector<Json> lines;
  for_each_json_line(file, [&](Json row, const std::string& where) {
    if (!row.contains("settings") || !row.contains("run")) return;
    std::string name;
    JsonErrors errors;
    JsonReader reader(row, "", errors);
    reader.required("run", name, "name of the run's folder");
    if (!row.at("settings").is_object())
      reader.error("settings",
                   text_of("expected an object of settings such as {\"/optimizer/lr\": 0.01}, got ",
                           shortened(row.at("settings").dump(-1, ' ', true))));
    errors.raise(where);
    lines.push_back(std::move(row));
  });
  return lines;
}

/// The key of results.jsonl that is the metric of the search.
std::string metric_in(const std::vector<Json>& results) {
  for (const Json& row : results)
    for (const auto& [key, value] : row.items())
      if (key == "loss" || find_metric(key)) return key;
  return "loss";
}

/// The runs of a search, the best first.
std::vector<SearchRun> ranked_runs(const std::vector<Json>& results, const std::string& metric, bool larger) {
  std::vector<SearchRun> runs;
  for (const Json& row : results) {
    SearchRun run{.name = row.at("run").get<std::string>(),
                  .state = row.value("state", Json()),
                  .settings = row.at("settings"),
                  .value = row.value(metric, Json())};
    if (run.value.is_number()) {
      const auto value = run.value.get<double>();
      run.rank = static_cast<float>(larger ? -value : value);
    }
    runs.push_back(std::move(run));
  }
  std::ranges::stable_sort(runs, {}, &SearchRun::rank);
  return runs;
}

/// The values of settings, by setting and run; null where a run does not have one.
struct SettingValues {
  std::vector<std::string> pointers;
  std::vector<std::vector<const Json*>> values;
  std::size_t left_out = 0;  ///< settings that are not here, as few runs have them
};

SettingValues values_of_settings(const std::vector<SearchRun>& runs) {
  std::vector<std::string> pointers;
  std::vector<std::size_t> counts;
  std::unordered_map<std::string, std::size_t> places;
  for (const SearchRun& run : runs) {
    for (const auto& [pointer, value] : run.settings.items()) {
      const auto [place, is_new] = places.emplace(pointer, pointers.size());
      if (is_new) {
        pointers.push_back(pointer);
        counts.push_back(0);
      }
      ++counts[place->second];
    }
  }
  const std::vector<std::size_t> shown = shown_columns(counts);
  SettingValues result{.pointers = {}, .values = {}, .left_out = pointers.size() - shown.size()};
  places.clear();
  for (const std::size_t column : shown) {
    places.emplace(pointers[column], result.pointers.size());
    result.pointers.push_back(pointers[column]);
    result.values.emplace_back(runs.size(), nullptr);
  }
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& [pointer, value] : runs[i].settings.items())
      if (const auto place = places.find(pointer); place != places.end())
        result.values[place->second][i] = &value;
  return result;
}

/// A dot for each run: the metric against a setting that is a number.
Plot against(const std::vector<SearchRun>& runs, const std::vector<const Json*>& values,
             const std::string& setting, const std::string& metric, bool larger) {
  Plot plot{.title = text_of(metric, " against ", setting),
            .x = {.title = setting, .room = 0.04},
            .y = {.title = metric + " on the validation set", .log = !larger, .room = 0.04}};
  PlotLine dots;
  double least = INFINITY, most = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json* x = values[i];
    const Json& y = runs[i].value;
    if (x == nullptr || !x->is_number() || !y.is_number()) continue;
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
  for (auto& [metric, plot] : compared_curves(comparison)) page.chart(std::move(plot));
  page.heading("How to repeat it");
  page.code(text_of("lagtape train ", (runs.front() / "experiment.json").string(),
                    " --out again\nlagtape report ", runs.front().string(), " --output run.html"));
  return page.html();
}

std::string search_page(const fs::path& folder) {
  const std::vector<Json> results = lines_of_runs(folder / "results.jsonl");
  if (results.empty()) throw InputError(text_of(folder.string(), ": the search has no runs yet."));
  const std::string metric = metric_in(results);
  const bool larger = metric != "loss" && lagtape::metric(metric).larger_is_better;
  const std::vector<SearchRun> runs = ranked_runs(results, metric, larger);
  const SettingValues settings = values_of_settings(runs);
  const std::size_t shown = settings.pointers.size();
  ReportPage page(text_of(name_of(folder), ": a search of ", runs.size(), " runs"));
  std::vector<std::string> head = {"run", "state", metric};
  for (const std::string& pointer : settings.pointers) head.push_back(setting_name(pointer));
  std::vector<std::vector<std::string>> rows;
  std::vector<fs::path> best;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const SearchRun& run = runs[i];
    rows.push_back({run.name, value_text(run.state), number_text(run.value)});
    for (const std::vector<const Json*>& values : settings.values)
      rows.back().push_back(values[i] == nullptr ? "-" : value_text(*values[i]));
    if (best.size() < 5 && fs::exists(folder / "runs" / run.name / "metrics.jsonl"))
      best.push_back(folder / "runs" / run.name);
  }
  say_what_is_left_out(page, shown + settings.left_out, shown, "settings");
  page.table(head, rows);
  page.heading("Settings");
  for (std::size_t i = 0; i < shown; ++i) {
    Plot plot = against(runs, settings.values[i], setting_name(settings.pointers[i]), metric, larger);
    if (!plot.lines[0].x.empty()) page.chart(std::move(plot));
  }
  if (!best.empty()) {
    page.heading("Learning of the best runs");
    for (auto& [name, plot] : compared_curves(compare_runs(best))) page.chart(std::move(plot));
  }
  page.heading("How to repeat it");
  page.code(text_of("lagtape report ", (folder / "best").string(), " --output best.html\nlagtape train ",
                    (folder / "best" / "experiment.json").string(), " --out again"));
  return page.html();
}

}  // namespace lagtape::report
