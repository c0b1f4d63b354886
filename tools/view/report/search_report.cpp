#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/train/files/json_lines.h"
#include "lagtape/tools/train/score/metrics.h"
#include "lagtape/tools/view/comparison_plot.h"
#include "lagtape/tools/view/report/columns.h"
#include "lagtape/tools/view/report/metrics_lines.h"
#include "lagtape/tools/view/report/report_page.h"
#include "lagtape/tools/view/report/run_report.h"

namespace lagtape::report {

namespace fs = std::filesystem;

namespace {

/// A run of a search, and its repetitions with other seeds.
struct SearchRun {
  std::string name, state;
  Json settings;
  Json so_far = {};                 ///< the search's metric of the run itself, whether it has finished or not
  std::vector<double> values = {};  ///< the metric of each seed that has finished
  std::vector<double> losses = {};  ///< the loss of those, by which equal metrics are compared
  std::vector<std::string> finished = {};  ///< the folders of those
  std::size_t repetitions = 0;             ///< runs with other seeds, finished or not

  bool is_done() const { return state == "done"; }
};

/// A line of results.jsonl that is a run.
struct ResultLine {
  std::string run, state = "done";
  Json row;

  /// The run itself, or the one that it repeats: "0007" of "0007-seed1".
  std::string first() const { return row.contains("seed") ? run.substr(0, run.rfind("-seed")) : run; }
};

/// The lines of results.jsonl that are runs. Throws InputError for one whose name, state or settings are none.
std::vector<ResultLine> lines_of_runs(const fs::path& file) {
  std::vector<ResultLine> lines;
  for_each_json_line(file, [&](Json row, const std::string& where) {
    if (!row.contains("settings") || !row.contains("run")) return;
    ResultLine line;
    JsonErrors errors;
    JsonReader reader(row, "", errors);
    reader.required("run", line.run, "name of the run's folder");
    reader.optional("state", line.state, "what became of it");
    if (!row.at("settings").is_object())
      reader.error("settings",
                   text_of("expected an object of settings such as {\"/optimizer/lr\": 0.01}, got ",
                           shortened(row.at("settings").dump(-1, ' ', true))));
    errors.raise(where);
    line.row = std::move(row);
    lines.push_back(std::move(line));
  });
  return lines;
}

/// The key of results.jsonl that is the metric of the search.
std::string metric_in(const std::vector<ResultLine>& results) {
  for (const ResultLine& line : results)
    for (const auto& [key, value] : line.row.items())
      if (key == "loss" || find_metric(key)) return key;
  return "loss";
}

/// The runs of a search in the order of the search itself: those that were repeated, by the mean over their seeds, then
/// the others that are done, the best first. Runs that are not done follow in the order of the file.
std::vector<SearchRun> ranked_runs(const std::vector<ResultLine>& results, const std::string& metric,
                                   bool larger) {
  std::vector<SearchRun> runs;
  std::unordered_map<std::string, std::size_t> places;
  for (const ResultLine& line : results) {
    const auto [place, is_new] = places.emplace(line.first(), runs.size());
    const Json value = line.row.value(metric, Json());
    if (is_new)
      runs.push_back(
          {.name = line.run, .state = line.state, .settings = line.row.at("settings"), .so_far = value});
    SearchRun& run = runs[place->second];
    if (!is_new) ++run.repetitions;
    if (line.state != "done" || !value.is_number()) continue;
    run.values.push_back(value.get<double>());
    const Json loss = line.row.value("loss", Json());
    run.losses.push_back(loss.is_number() ? loss.get<double>() : INFINITY);
    run.finished.push_back(line.run);
  }
  const auto rank = [larger](const SearchRun& run) {
    if (!run.is_done()) return std::tuple(2, 0.0, 0.0);
    if (run.values.empty()) return std::tuple(1, static_cast<double>(INFINITY), 0.0);
    const double mean = mean_and_deviation(run.values).first, loss = mean_and_deviation(run.losses).first;
    return std::tuple(run.values.size() > 1 ? 0 : 1, larger ? -mean : mean, loss);
  };
  std::ranges::stable_sort(runs, {}, rank);
  return runs;
}

/// How many runs ended in which way, and how they are ranked.
void explain_ranking(ReportPage& page, const std::vector<SearchRun>& runs) {
  std::vector<std::pair<std::string, std::size_t>> counts = {{"done", 0}};
  std::size_t repeated = 0, repetitions = 0;
  for (const SearchRun& run : runs) {
    auto count = std::ranges::find(counts, run.state, &std::pair<std::string, std::size_t>::first);
    if (count == counts.end()) count = counts.insert(count, {run.state, 0});
    ++count->second;
    repeated += run.repetitions > 0 ? 1 : 0;
    repetitions += run.repetitions;
  }
  std::string text;
  for (const auto& [state, count] : counts) text += text_of(text.empty() ? "" : ", ", count, " ", state);
  page.paragraph(text_of("Runs: ", text, "."));
  if (repeated > 0)
    page.paragraph(
        text_of("The best ", repeated, " were repeated with other seeds, by ", repetitions,
                " further runs. They stand first, by the mean over their seeds that are done, with the "
                "sample deviation."));
  if (counts.size() > 1)
    page.paragraph("Runs that are not done stand last, with the best that they had reached.");
}

/// The metric of a run as its row shows it.
std::string metric_text(const SearchRun& run) {
  if (!run.is_done() || run.values.empty()) return number_text(run.so_far);
  const std::pair<double, double> number = mean_and_deviation(run.values);
  return number_with_deviation(&number, run.values.size() > 1);
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

/// A dot for each run: the metric, of a run that is done the mean over its seeds, against a setting that is a number.
Plot against(const std::vector<SearchRun>& runs, const std::vector<const Json*>& values,
             const std::string& setting, const std::string& metric, bool larger) {
  Plot plot{.title = text_of(metric, " against ", setting),
            .x = {.title = setting, .room = 0.04},
            .y = {.title = metric + " on the validation set", .log = !larger, .room = 0.04}};
  PlotLine done, others;
  double least = INFINITY, most = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json* x = values[i];
    const bool is_done = runs[i].is_done() && !runs[i].values.empty();
    if (x == nullptr || !x->is_number() || (!is_done && !runs[i].so_far.is_number())) continue;
    PlotLine& dots = is_done ? done : others;
    dots.x.insert(dots.x.end(), {x->get<double>(), NAN});
    dots.y.insert(dots.y.end(),
                  {is_done ? mean_and_deviation(runs[i].values).first : runs[i].so_far.get<double>(), NAN});
    least = std::min(least, x->get<double>());
    most = std::max(most, x->get<double>());
  }
  plot.x.log = least > 0 && most > 20 * least;  // such a range was hardly drawn evenly
  if (larger) plot.y.max = 1;
  if (!others.x.empty()) {
    done.name = "done";
    others.name = "not done";
  }
  for (PlotLine* dots : {&done, &others})
    if (!dots->x.empty()) plot.lines.push_back(std::move(*dots));
  return plot;
}

/// The folders of the best runs that are done, and of their repetitions.
std::vector<fs::path> folders_of_best(const fs::path& folder, const std::vector<SearchRun>& runs) {
  constexpr std::size_t kMost = 5;
  std::vector<fs::path> folders;
  for (std::size_t i = 0; i < std::min(kMost, runs.size()); ++i)
    for (const std::string& run : runs[i].finished)
      if (fs::exists(folder / "runs" / run / "metrics.jsonl")) folders.push_back(folder / "runs" / run);
  return folders;
}

}  // namespace

std::string search_page(const fs::path& folder) {
  const std::vector<ResultLine> results = lines_of_runs(folder / "results.jsonl");
  if (results.empty()) throw InputError({folder.string()}, Rule::missing, "the search has no runs yet.");
  const std::string metric = metric_in(results);
  const bool larger = metric != "loss" && lagtape::metric(metric).larger_is_better;
  const std::vector<SearchRun> runs = ranked_runs(results, metric, larger);
  const SettingValues settings = values_of_settings(runs);
  const std::size_t shown = settings.pointers.size();
  ReportPage page(text_of(name_of(folder), ": a search of ", runs.size(), " runs"));
  explain_ranking(page, runs);
  const bool repeated = std::ranges::any_of(runs, [](const SearchRun& run) { return run.repetitions > 0; });
  std::vector<std::string> head = {"run", "state", metric};
  if (repeated) head.emplace_back("seeds");
  for (const std::string& pointer : settings.pointers) head.push_back(setting_name(pointer));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const SearchRun& run = runs[i];
    rows.push_back({run.name, run.state, metric_text(run)});
    if (repeated) rows.back().push_back(text_of(run.values.size()));
    for (const std::vector<const Json*>& values : settings.values)
      rows.back().push_back(values[i] == nullptr ? "-" : value_text(*values[i]));
  }
  say_what_is_left_out(page, shown + settings.left_out, shown, "settings");
  page.table(head, rows);
  page.heading("Settings");
  for (std::size_t i = 0; i < shown; ++i) {
    Plot plot = against(runs, settings.values[i], setting_name(settings.pointers[i]), metric, larger);
    if (!plot.lines.empty()) page.chart(std::move(plot));
  }
  if (const std::vector<fs::path> best = folders_of_best(folder, runs); !best.empty()) {
    page.heading("Learning of the best runs");
    for (auto& [name, plot] : compared_curves(compare_runs(best))) page.chart(std::move(plot));
  }
  page.heading("How to repeat it");
  page.code(text_of("lagtape report ", (folder / "best").string(), " --output best.html\nlagtape train ",
                    (folder / "best" / "experiment.json").string(), " --out again"));
  return page.html();
}

}  // namespace lagtape::report
