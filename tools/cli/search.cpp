#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <thread>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/cli/terminal/signals.h"
#include "lagtape/tools/sweep/search/halving.h"
#include "lagtape/tools/sweep/search/importance.h"
#include "lagtape/tools/sweep/search/search.h"
#include "lagtape/tools/sweep/search/search_folder.h"
#include "lagtape/tools/view/search_charts.h"

namespace lagtape::cli {

namespace {

using search::SearchPlan;
using search::SearchResult;
using search::Trial;

struct SearchArguments {
  std::string file, out, plot;
  std::vector<std::string> set;
  int jobs = 0;
  std::int64_t runs = 0;
  bool show = false, json = false, quiet = false;
};

void add_options(Options& options, SearchArguments& arguments) {
  options
      .add("SEARCH", &arguments.file, "file of the search (JSON): an experiment and ranges of its settings")
      .required();
  options.add("--out", &arguments.out, "folder of the search; by default runs/ and the name of the file")
      .not_empty()
      .called("DIR");
  options.add("--jobs", &arguments.jobs, "number of parallel trainings; by default as many as processors")
      .between(1, 1024)
      .called("N");
  options.add("--runs", &arguments.runs, "number of runs, in place of the file's").at_least(1).called("N");
  add_set(options, arguments.set, "a value of every run");
  options.add("--show", &arguments.show, "train nothing, and show the results so far");
  options
      .add("--plot", &arguments.plot, "folder for charts: the metric against each setting, and all settings")
      .not_empty()
      .called("DIR");
  options.add("--json", &arguments.json, "print the result as one JSON object");
  options.add("--quiet", &arguments.quiet, "print only errors on stderr");
}

std::string number(double value) { return std::isnan(value) ? "" : fmt::format("{:.6g}", value); }

void announce(const SearchPlan& plan, const Trial& trial, std::size_t ended, std::size_t of) {
  const std::string what =
      trial.state == search::RunState::done
          ? fmt::format("{} {} after {:.1f} s", plan.metric, number(trial.value), trial.seconds)
          : fmt::format("{}: {}", sweep::name_of(trial.state), trial.message);
  note("{}/{}  run {}  {}  {}\n", ended, of, trial.folder.filename().string(),
       search::text_of_values(trial.values), what);
}

/// Says when a grid has more combinations than runs were asked for.
void warn_of_many(const SearchPlan& plan) {
  if (plan.method != search::Method::grid || plan.runs == 0) return;
  SearchPlan whole = plan;
  whole.runs = 0;
  const std::int64_t all = std::ssize(search::candidates(whole)), most = search::most_runs(plan);
  if (all <= plan.runs) return;
  note("{}: {} of the {}{} combinations of the grid are trained, the first ones: \"runs\" says so\n",
       plan.file.string(), plan.runs, all > most ? "more than " : "", std::min(all, most));
}

/// Says when the ranges have fewer values than runs were asked for.
void warn_of_few(const SearchPlan& plan, std::int64_t runs) {
  if (runs >= plan.runs) return;
  note("{}: the number of different {} in the ranges is {}, fewer than the {} runs that were asked for\n",
       plan.file.string(), plan.method == search::Method::grid ? "combinations" : "draws", runs, plan.runs);
}

/// "0.1358", or "0.1358 +- 0.0021" for several seeds.
std::string value_with_deviation(const sweep::Outcome& outcome) {
  return outcome.values.size() == 1 ? number(outcome.mean)
                                    : fmt::format("{} +- {:.2g}", number(outcome.mean), outcome.deviation);
}

/// Shows which settings mattered.
void print_importance(const SearchPlan& plan, const SearchResult& result) {
  const auto all = search::importance(plan, result.trials);
  if (all.empty()) return;
  print("\nsettings, by the part of the variance of ranks that each explains alone\n");
  for (const auto& [pointer, part] : all) print("{:>5.2f}  {}\n", part, search::name_of_setting(pointer));
}

void print_table(const SearchPlan& plan, const SearchResult& result, const std::filesystem::path& out) {
  constexpr std::size_t kMostRows = 10;
  const std::vector<const Trial*> ranked = search::ranking(plan, result);
  const std::vector<sweep::Outcome> outcomes = outcomes_of(plan, result);
  const auto count = [&](search::RunState state) {
    return std::ranges::count(result.trials, state, &Trial::state);
  };
  const std::size_t shown = std::min(ranked.size(), kMostRows);
  std::vector<std::string> values, seeds;
  const bool repeated = !result.repetitions.empty();
  std::size_t width = plan.metric.size() + std::string(" on valid").size();
  for (std::size_t i = 0; i < shown; ++i) {
    const sweep::Outcome& outcome = outcomes[ranked[i]->row];
    values.push_back(value_with_deviation(outcome));
    seeds.push_back(repeated ? fmt::format("{:<7}", outcome.values.size()) : "");
    width = std::max(width, values.back().size());
  }
  print("{:<7}{:<6}{:<{}}  {}{}\n", "place", "run", plan.metric + " on valid", width,
        repeated ? "seeds  " : "", "settings");
  for (std::size_t i = 0; i < shown; ++i) {
    print("{:<7}{:<6}{:<{}}  {}{}\n", i + 1, ranked[i]->folder.filename().string(), values[i], width,
          seeds[i], search::text_of_values(ranked[i]->values));
  }
  if (shown < ranked.size()) print("and {} more\n", ranked.size() - shown);
  print_importance(plan, result);
  print("\n{} runs: {} done", result.trials.size(), count(search::RunState::done));
  for (const auto state : {search::RunState::stopped, search::RunState::diverged, search::RunState::failed,
                           search::RunState::unfinished, search::RunState::missing}) {
    if (count(state) > 0) print(", {} {}", count(state), sweep::name_of(state));
  }
  if (std::filesystem::exists(out / "results.jsonl")) {
    print("; all in {}\n", (out / "results.jsonl").string());
  } else {
    print("; it has not begun: `lagtape search {}` trains them\n", plan.file.string());
  }
  if (!ranked.empty()) {
    std::error_code error;  // the link is that of the last search here, which may have had fewer runs
    const bool is_linked = std::filesystem::equivalent(out / "best", ranked.front()->folder, error);
    print("the best run is {}\n", (is_linked ? out / "best" : ranked.front()->folder).string());
  }
  if (result.elsewhere > 0) print("{} runs are being trained by another process\n", result.elsewhere);
}

void print_json(const SearchPlan& plan, const SearchResult& result) {
  Json runs = Json::array(), repetitions = Json::array(), ranked = Json::array();
  for (const Trial& trial : result.trials) runs.push_back(search::json_of(plan, trial));
  for (const Trial& trial : result.repetitions) repetitions.push_back(search::json_of(plan, trial));
  for (const Trial* trial : search::ranking(plan, result))
    ranked.push_back(trial->folder.filename().string());
  Json settings = Json::object();
  for (const auto& [pointer, part] : search::importance(plan, result.trials)) settings[pointer] = part;
  const Json all = {{"metric", plan.metric},
                    {"ranking", ranked},
                    {"importance", settings},
                    {"runs", runs},
                    {"repetitions", repetitions}};
  print("{}\n", all.dump(2));
}

void run(const SearchArguments& arguments) {
  const SearchPlan plan = search::read_search(arguments.file, arguments.runs, arguments.set,
                                              arguments.show ? search::Checked::some : search::Checked::all);
  const std::filesystem::path out = arguments.out.empty() ? std::filesystem::path("runs") / plan.file.stem()
                                                          : std::filesystem::path(arguments.out);
  if (!arguments.quiet) {
    if (plan.method != search::Method::tpe) warn_of_few(plan, std::ssize(plan.draws));
    warn_of_many(plan);
  }
  SearchResult result;
  if (arguments.show) {
    result = search::look_at_search(plan, out);
  } else {
    catch_signals();
    sweep::RunnerOptions options{.jobs = arguments.jobs, .stop_requested = stop_requested};
    if (options.jobs == 0) options.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    if (!arguments.quiet) {
      options.ended = [&](const Trial& trial, std::size_t ended, std::size_t of) {
        announce(plan, trial, ended, of);
      };
      options.waits = announce_waiting;
    }
    result = search::search(plan, out, options);
    if (plan.method == search::Method::tpe && !arguments.quiet &&
        std::ranges::none_of(result.trials, sweep::has_crashed))
      warn_of_few(plan, std::ssize(result.trials));
  }
  if (const std::string said = search::first_rung_note(plan, result.trials);
      !said.empty() && !arguments.quiet)
    note("{}\n", said);
  if (!arguments.plot.empty()) {
    std::filesystem::create_directories(arguments.plot);
    for (const auto& [name, chart] : search::charts_of(plan, result.trials))
      write_file_atomically(std::filesystem::path(arguments.plot) / (name + ".svg"), chart.svg());
  }
  if (arguments.json) {
    print_json(plan, result);
  } else {
    print_table(plan, result, out);
  }
  if (!arguments.show) search::raise_failures(plan, result);
}

}  // namespace

Command search_command() {
  return make_command<SearchArguments>(
      "search",
      "Search the settings of an experiment: random, a grid, halving that stops hopeless runs, or tpe",
      add_options, run,
      {{"lagtape search search.json --show", "the settings of every run"},
       {"lagtape search search.json", "into runs/search; continues where it was stopped"}});
}

}  // namespace lagtape::cli
