#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/cli/terminal/signals.h"
#include "lagtape/tools/sweep/table/results.h"
#include "lagtape/tools/sweep/table/table_trials.h"
#include "lagtape/tools/view/table_charts.h"
#include "lagtape/tools/view/table_page.h"

namespace lagtape::cli {

namespace {

constexpr int kMostJobs = 1024;

struct TableArguments {
  std::string folder, out, results, page, plot, against;
  std::vector<std::string> only, set;
  std::int64_t seeds = 0;
  int jobs = 0, threads = 1;
  bool show = false, json = false, quiet = false;
};

void add_options(Options& options, TableArguments& arguments) {
  options.add("TASK", &arguments.folder, "folder with experiments and a table.json");
  options
      .add("--seeds", &arguments.seeds,
           "number of runs of each model, with the seeds 0, 1, ...; by default that of table.json")
      .between(1, 1000)
      .called("N");
  options.add("--out", &arguments.out, "folder of the runs; by default runs/TASK").not_empty().called("DIR");
  options
      .add("--results", &arguments.results,
           "file of finished runs: the runs in it need no folder, and new ones are added")
      .not_empty()
      .called("FILE");
  options.add("--only", &arguments.only, "models to run; by default all").called("MODEL");
  options.add("--jobs", &arguments.jobs, "number of parallel trainings; by default as many as threads")
      .between(1, kMostJobs)
      .called("N");
  add_threads(options, arguments.threads);
  add_set(options, arguments.set, "a value of every experiment");
  options.add("--show", &arguments.show, "train nothing, and show the table of the existing runs");
  options.add("--json", &arguments.json, "print the table as one JSON object");
  options.add("--markdown", &arguments.page, "Markdown page into which the table is written")
      .not_empty()
      .called("FILE");
  options.add("--plot", &arguments.plot, "draw the learning curves (.svg, .png or .pdf)")
      .not_empty()
      .called("FILE");
  options
      .add("--against", &arguments.against,
           "folder for charts of the metric against each setting that the rows have (\"at\" in table.json)")
      .not_empty()
      .called("DIR");
  options.add("--quiet", &arguments.quiet, "print only errors on stderr");
}

/// Checks before the training that there is something to draw the metric against.
void check_settings(const table::PaperTable& plan, const std::string& against) {
  if (against.empty()) return;
  const Place place{.item = "--against " + against};
  if (std::filesystem::exists(against) && !std::filesystem::is_directory(against))
    throw InputError(place, Rule::wrong_type, "is a file, not a folder.");
  if (const std::string reason = table::why_no_chart(plan); !reason.empty())
    throw InputError(place, Rule::not_supported, reason + ".");
}

/// A chart whose subtitle says what the command changed, so that nobody takes a short run for the printed settings.
Plot with_subtitle(Plot chart, const std::vector<std::string>& assignments) {
  constexpr std::size_t kLongest = 100;
  if (!assignments.empty())
    chart.subtitle = "with " + shortened(fmt::format("{}", fmt::join(assignments, ", ")), kLongest);
  return chart;
}

using Charts = std::vector<std::pair<std::string, Plot>>;

/// The charts of --against. None without a finished run: printed numbers alone are in the table already.
Charts charts_of(const table::PaperTable& plan, const std::vector<table::Trial>& trials) {
  const auto is_done = [](const table::Trial& trial) { return trial.state == table::RunState::done; };
  return std::ranges::any_of(trials, is_done) ? metric_against_settings(plan, trials) : Charts();
}

std::string nothing_to_draw(const std::string& against) {
  return fmt::format("--against {}: there is no finished run to draw.", against);
}

void write_against(const table::PaperTable& plan, const std::vector<table::Trial>& trials,
                   const TableArguments& arguments) {
  const Charts charts = charts_of(plan, trials);
  if (charts.empty()) {
    note("{}\n", nothing_to_draw(arguments.against));
    return;
  }
  std::filesystem::create_directories(arguments.against);
  for (const auto& [name, chart] : charts) {
    write_file_atomically(std::filesystem::path(arguments.against) / (name + ".svg"),
                          with_subtitle(chart, arguments.set).svg());
  }
}

/// The command that repeats the table from the start.
std::string command_of(const table::PaperTable& plan, const TableArguments& arguments, std::int64_t seeds) {
  const std::filesystem::path folder = std::filesystem::proximate(plan.folder);
  std::string command = fmt::format("lagtape table {} --seeds {}", folder.string(), seeds);
  for (const std::string& model : arguments.only) command += " --only " + model;
  for (const std::string& assignment : arguments.set) command += fmt::format(" --set '{}'", assignment);
  return command;
}

void announce(const table::PaperTable& plan, const table::Trial& trial, std::size_t ended, std::size_t of) {
  const std::string model = plan.rows[trial.row].model;
  const std::string result = trial.state == table::RunState::done
                                 ? fmt::format("{:.{}f} ({}) after {:.1f} s", trial.value * plan.scale,
                                               plan.digits, plan.unit, trial.seconds)
                                 : fmt::format("{}: {}", sweep::name_of(trial.state), trial.message);
  note("{}/{}  {} seed {}: {}\n", ended, of, model, trial.seed, result);
}

/// Says which runs of the table's folders have finished, but with other settings than --show was given.
void tell_other_settings(const std::vector<table::Trial>& trials) {
  for (const table::Trial& trial : trials)
    if (trial.state == table::RunState::unfinished && !trial.message.empty())
      note("{}: has finished with {}, and is not in the table (--set)\n", trial.folder.string(),
           trial.message);
}

/// Rows whose model has another size than the paper's compare unlike things, which their reader should know.
void warn_of_parameters(const table::PaperTable& plan, const std::vector<table::Trial>& trials) {
  const std::vector<table::Outcome> outcomes = outcomes_of(plan, trials);
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const table::Row& row = plan.rows[i];
    const std::string difference = parameter_difference(row, outcomes[i]);
    if (!difference.empty() && !outcomes[i].trials.empty())
      note("{} ({}): {}\n", row.name, row.model, difference);
  }
}

void train(std::vector<table::Trial>& trials, const table::PaperTable& plan, const std::filesystem::path& out,
           const TableArguments& arguments, table::Results* results) {
  catch_signals();
  sweep::RunnerOptions options{.jobs = arguments.jobs > 0 ? arguments.jobs : arguments.threads,
                               .threads = arguments.threads,
                               .stop_requested = stop_requested};
  options.ended = [&](const table::Trial& trial, std::size_t ended, std::size_t of) {
    if (results != nullptr) results->add({trial}, plan);
    if (!arguments.quiet) announce(plan, trial, ended, of);
  };
  if (!arguments.quiet) options.waits = announce_waiting;
  table::train_all(trials, plan, out, options);
}

/// Checks before the training that a file can be written after it.
void check_folder_of(const std::string& file) {
  if (file.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw InputError({file}, Rule::missing,
                     fmt::format("there is no folder {} to write it to.", folder.string()));
  if (std::filesystem::is_directory(file))
    throw InputError({file}, Rule::wrong_type, "is a folder, not a file.");
}

void run(const TableArguments& arguments) {
  if (arguments.folder.empty()) {
    throw InputError({}, Rule::missing, "which table?", {},
                     "Give a folder with experiments and a table.json before --only, which takes all names "
                     "after it.");
  }
  table::PaperTable plan = table::read_paper_table(arguments.folder);
  plan.set = arguments.set;
  const std::int64_t seeds = arguments.seeds > 0 ? arguments.seeds : plan.seeds;
  const std::filesystem::path out = arguments.out.empty() ? std::filesystem::path("runs") / plan.task()
                                                          : std::filesystem::path(arguments.out);
  const std::vector<std::size_t> chosen = chosen_rows(plan, arguments.only);
  std::vector<table::Trial> trials = find_trials(plan, chosen, seeds, out);
  count_parameters_of_others(plan, chosen);
  for (const std::string& file : {arguments.page, arguments.plot}) check_folder_of(file);
  if (!arguments.page.empty())
    table::page_with(arguments.page, plan.task(), "");  // refused before the training
  check_chart("--plot", arguments.plot);
  check_settings(plan, arguments.against);
  std::optional<table::Results> results;
  if (!arguments.results.empty()) {
    if (arguments.show && !std::filesystem::exists(arguments.results))
      throw InputError({.item = "--results " + arguments.results}, Rule::missing,
                       "there is no such file to show.");
    results.emplace(arguments.results);
    results->fill(trials, plan);
    if (const std::string others = results->others(trials, plan); !others.empty() && !arguments.quiet)
      note("{}: runs of these models that are not in the table: {}\n", arguments.results, others);
    if (!arguments.show) results->add(trials, plan);
  }
  if (arguments.show && !arguments.quiet) tell_other_settings(trials);
  if (arguments.show && !arguments.against.empty() && charts_of(plan, trials).empty())
    throw InputError({}, Rule::missing, nothing_to_draw(arguments.against));
  if (!arguments.quiet) warn_of_parameters(plan, trials);
  if (!arguments.show) train(trials, plan, out, arguments, results ? &*results : nullptr);
  const std::string text = markdown(plan, trials, command_of(plan, arguments, seeds));
  print("{}{}", arguments.json ? json(plan, trials) : text, arguments.json ? "\n" : "");
  if (!arguments.page.empty()) table::put_into_page(arguments.page, plan.task(), text);
  if (!arguments.plot.empty())
    write_chart(arguments.plot, with_subtitle(learning_curves(plan, trials), arguments.set));
  if (!arguments.against.empty()) write_against(plan, trials, arguments);
  raise_failures(plan, trials);
}

}  // namespace

Command table_command() {
  return make_command<TableArguments>(
      "table", "Train the models of a paper's table and show the results beside the printed numbers",
      add_options, run,
      {{"lagtape table tools/experiments/mackey_glass --show", "existing runs, beside the paper"},
       {"lagtape table tools/experiments/mackey_glass --only lem", "train one model"}});
}

}  // namespace lagtape::cli
