#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <unordered_map>

#include "lagtape/core/error.h"
#include "lagtape/tools/sweep/search/search_folder.h"
#include "lagtape/tools/train/run_folder.h"
#include "lagtape/tools/view/comparison_plot.h"
#include "lagtape/tools/view/report/columns.h"
#include "lagtape/tools/view/report/metrics_lines.h"
#include "lagtape/tools/view/report/report_page.h"
#include "lagtape/tools/view/report/run_report.h"

namespace lagtape::report {

namespace fs = std::filesystem;

namespace {

using search::SearchResult;
using sweep::Outcome;
using sweep::RunState;
using sweep::Trial;

/// A draw of a search, with the outcome over its seeds.
struct RankedRun {
  const Trial* trial;
  const Outcome* outcome;

  bool is_done() const { return trial->state == RunState::done && std::isfinite(outcome->mean); }
  /// The search's metric: the mean over the seeds that are done, or the best so far.
  double value() const { return is_done() ? outcome->mean : trial->value; }
};

/// The draws in the order of the search itself, followed by the others that are done, and by those that are not.
std::vector<RankedRun> ranked_runs(const sweep::Plan& plan, const SearchResult& result,
                                   const std::vector<Outcome>& outcomes) {
  std::vector<const Trial*> sorted = ranking(plan, result);
  const std::set<const Trial*> ranked(sorted.begin(), sorted.end());
  for (const bool done : {true, false})
    for (const Trial& trial : result.trials)
      if (!ranked.contains(&trial) && (trial.state == RunState::done) == done) sorted.push_back(&trial);
  std::vector<RankedRun> runs;
  for (const Trial* trial : sorted) runs.push_back({trial, &outcomes[trial->row]});
  return runs;
}

/// How many runs ended in which way, and how they are ranked.
void explain_ranking(ReportPage& page, const SearchResult& result, const std::vector<RankedRun>& runs) {
  std::map<RunState, std::size_t> counts = {{RunState::done, 0}};
  for (const RankedRun& run : runs) ++counts[run.trial->state];
  std::string text = text_of(counts[RunState::done], " done");
  for (const auto& [state, count] : counts)
    if (state != RunState::done) text += text_of(", ", count, " ", sweep::name_of(state));
  page.paragraph(text_of("Runs: ", text, "."));
  if (!result.repetitions.empty())
    page.paragraph(text_of(
        "The best ",
        std::ranges::count_if(runs, [](const RankedRun& run) { return run.outcome->trials.size() > 1; }),
        " were repeated with other seeds, by ", result.repetitions.size(),
        " further runs. They come first, by the mean over their seeds that are done, with the "
        "sample deviation."));
  if (counts.size() > 1) page.paragraph("Runs that are not done come last, with their best value so far.");
}

/// The metric of a run as its row shows it.
std::string metric_text(const RankedRun& run) {
  if (!run.is_done()) return number_text(std::isfinite(run.value()) ? Json(run.value()) : Json());
  const std::pair number(run.outcome->mean, run.outcome->deviation);
  return number_with_deviation(&number, run.outcome->values.size() > 1);
}

/// The values of settings, by setting and run; null where a run does not have one.
struct SettingValues {
  std::vector<std::string> pointers;
  std::vector<std::vector<const Json*>> values;
  std::size_t left_out = 0;  ///< settings that are not here, as few runs have them
};

SettingValues values_of_settings(const std::vector<RankedRun>& runs) {
  std::vector<std::string> pointers;
  std::vector<std::size_t> counts;
  std::unordered_map<std::string, std::size_t> places;
  for (const RankedRun& run : runs) {
    for (const auto& [pointer, value] : run.trial->values) {
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
    for (const auto& [pointer, value] : runs[i].trial->values)
      if (const auto place = places.find(pointer); place != places.end())
        result.values[place->second][i] = &value;
  return result;
}

/// A dot for each run: the metric, of a run that is done the mean over its seeds, against a setting that is a number.
Plot against(const sweep::Plan& plan, const std::vector<RankedRun>& runs,
             const std::vector<const Json*>& values, const std::string& setting) {
  Plot plot{.title = text_of(plan.metric, " against ", setting),
            .x = {.title = setting, .room = 0.04},
            .y = {.title = plan.metric + " on the validation set", .log = !plan.larger_is_better}};
  PlotLine done, others;
  double least = INFINITY, most = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json* x = values[i];
    if (x == nullptr || !x->is_number() || !std::isfinite(runs[i].value())) continue;
    PlotLine& dots = runs[i].is_done() ? done : others;
    dots.x.insert(dots.x.end(), {x->get<double>(), NAN});
    dots.y.insert(dots.y.end(), {runs[i].value(), NAN});
    least = std::min(least, x->get<double>());
    most = std::max(most, x->get<double>());
  }
  plot.x.log = least > 0 && most > 20 * least;  // such a range was hardly drawn evenly
  if (plan.larger_is_better) plot.y.max = 1;
  if (!others.x.empty()) {
    done.name = "done";
    others.name = "not done";
  }
  for (PlotLine* dots : {&done, &others})
    if (!dots->x.empty()) plot.lines.push_back(std::move(*dots));
  return plot;
}

/// The folders of the best runs that are done, and of their repetitions.
std::vector<fs::path> folders_of_best(const std::vector<RankedRun>& runs) {
  constexpr std::size_t kMost = 5;
  std::vector<fs::path> folders;
  for (const RankedRun& run : std::span(runs).first(std::min(kMost, runs.size())))
    for (const Trial* trial : run.outcome->trials)
      if (trial->state == RunState::done && fs::exists(RunFolder(trial->folder).metrics_file()))
        folders.push_back(trial->folder);
  return folders;
}

}  // namespace

std::string search_page(const fs::path& folder) {
  sweep::Plan plan;
  const SearchResult result = search::read_results(folder, plan);
  if (result.trials.empty())
    throw InputError({folder.string()}, Rule::missing, "the search has no runs yet.");
  const std::vector<Outcome> outcomes = outcomes_of(plan, result);
  const std::vector<RankedRun> runs = ranked_runs(plan, result, outcomes);
  const SettingValues settings = values_of_settings(runs);
  const std::size_t shown = settings.pointers.size();
  ReportPage page(text_of(name_of(folder), ": a search of ", runs.size(), " runs"));
  explain_ranking(page, result, runs);
  const bool repeated = !result.repetitions.empty();
  std::vector<std::string> head = {"run", "state", plan.metric};
  if (repeated) head.emplace_back("seeds");
  for (const std::string& pointer : settings.pointers) head.push_back(setting_name(pointer));
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RankedRun& run = runs[i];
    rows.push_back({run.trial->folder.filename().string(), std::string(sweep::name_of(run.trial->state)),
                    metric_text(run)});
    if (repeated) rows.back().push_back(text_of(run.outcome->values.size()));
    for (const std::vector<const Json*>& values : settings.values)
      rows.back().push_back(values[i] == nullptr ? "-" : value_text(*values[i]));
  }
  say_what_is_left_out(page, shown + settings.left_out, shown, "settings");
  page.table(head, rows);
  page.heading("Settings");
  for (std::size_t i = 0; i < shown; ++i) {
    Plot plot = against(plan, runs, settings.values[i], setting_name(settings.pointers[i]));
    if (!plot.lines.empty()) page.chart(std::move(plot));
  }
  if (const std::vector<fs::path> best = folders_of_best(runs); !best.empty()) {
    page.heading("Learning of the best runs");
    for (auto& [name, plot] : compared_curves(compare_runs(best))) page.chart(std::move(plot));
  }
  page.heading("How to repeat it");
  const std::string best = text_of(in_commands(folder), "/best");
  page.code(text_of("lagtape report ", best, " --output best.html\nlagtape train ", best,
                    "/experiment.json --out again"));
  return page.html();
}

}  // namespace lagtape::report
