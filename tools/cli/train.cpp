#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <span>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/chart/plot.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/format.h"
#include "lagtape/tools/cli/terminal/mpi_ranks.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/cli/terminal/progress.h"
#include "lagtape/tools/cli/terminal/signals.h"
#include "lagtape/tools/cli/terminal/wrapped_text.h"
#include "lagtape/tools/sweep/trial.h"
#include "lagtape/tools/train/experiment_paths.h"
#include "lagtape/tools/train/score/metrics.h"
#include "lagtape/tools/train/short_training.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/train/training_run.h"
#include "lagtape/tools/train/warnings.h"

namespace lagtape::cli {

namespace {

struct TrainArguments {
  ExperimentArguments experiment;
  std::string out, init, find_rate, problems;
  std::int64_t seed = -1;
  int threads = 1;
  std::int64_t overfit = 0, seeds = 1;
  bool tensorboard = false, dry_run = false, resume = false, quiet = false, json = false;
  Ranks* ranks = nullptr;  ///< processes that train together

  bool is_first() const { return ranks == nullptr || ranks->rank() == 0; }
};

void add_options(Options& options, TrainArguments& arguments) {
  arguments.experiment.add_to(options);
  options
      .add("--out", &arguments.out,
           "run folder; by default runs/NAME-SEED. A # in its name becomes the first free number")
      .not_empty()
      .called("RUN");
  options.add("--seed", &arguments.seed, "seed, in place of the experiment's").at_least(0).called("N");
  options
      .add("--seeds", &arguments.seeds,
           "train N runs, with this seed and the next ones, one after another, and print the mean of their "
           "metrics; --out names their folders before -SEED")
      .between(1, 1000)
      .called("N");
  add_threads(options, arguments.threads);
  options.add("--resume", &arguments.resume, "resume the run in that folder, or start it");
  options.add("--init", &arguments.init, "run folder or weights file to begin with: train.init")
      .not_empty()
      .called("RUN");
  options
      .add("--overfit", &arguments.overfit,
           "train and score on the first N batches alone, as a check of the model: train.overfit")
      .at_least(1)
      .called("N");
  options
      .add("--dry-run", &arguments.dry_run,
           "make three updates, print how long the run would take, write nothing")
      .excludes({"--resume", "--seeds"});
  options
      .add("--find-lr", &arguments.find_rate,
           "try growing learning rates for 100 updates, print a suggested one, and draw the losses (.svg, "
           ".png or .pdf)")
      .not_empty()
      .called("FILE")
      .excludes({"--resume", "--dry-run", "--seeds"});
  options.add("--tensorboard", &arguments.tensorboard,
              "also write the evaluations as an event file of TensorBoard");
  options.add("--quiet", &arguments.quiet, "print only errors on stderr");
  options.add("--json", &arguments.json, "print the result as one JSON object");
  options.add("--problems", &arguments.problems, "if training fails, write the problems to this file as JSON")
      .not_empty()
      .called("FILE");
}

void print_summary(const RunSummary& summary, const std::string& folder) {
  print("run         {}\n", folder);
  print("parameters  {}\n", summary.params);
  print("kept        epoch {}, step {}\n", summary.best_epoch, summary.best_step);
  if (summary.average_begun) {
    print("average     from epoch {}, step {} on, {}\n", summary.average_begun->epoch,
          summary.average_begun->step,
          summary.averaged > 0 ? fmt::format("over {} updates in the kept weights", summary.averaged)
                               : "not in the kept weights");
  }
  if (summary.stopped_early)
    print("stopped     early, without a new best on valid for train.patience evaluations\n");
  const int columns = terminal_width(STDOUT_FILENO);
  if (!summary.valid.empty()) print("valid       {}\n", wrapped(line_of(summary.valid), 12, columns));
  if (!summary.test.empty()) print("test        {}\n", wrapped(line_of(summary.test), 12, columns));
  if (summary.skipped > 0)
    print("skipped     {} updates with a loss or gradient that was not finite\n", summary.skipped);
  print("time        {:.1f} s, {:.4g} us per time step\n", summary.seconds, summary.us_per_step);
  print("memory      plan {} with {}, {} resident at most\n", summary.plan, bytes_of(summary.plan_bytes),
        bytes_of(summary.peak_rss_bytes));
}

void print_dry_run(const DryRun& run, bool json) {
  if (json) {
    const Json result = {{"updates", run.updates},
                         {"loss", run.loss},
                         {"seconds_per_update", run.seconds_per_update},
                         {"steps", run.steps},
                         {"seconds", run.seconds},
                         {"plan", run.plan},
                         {"plan_bytes", run.plan_bytes}};
    print("{}\n", result.dump(2));
    return;
  }
  print("updates     {} of {}, {:.4g} s each, loss {:.4g}\n", run.updates, run.steps, run.seconds_per_update,
        run.loss);
  print("whole run   about {:.4g} s without its evaluations\n", run.seconds);
  print("memory      plan {} with {}\n", run.plan, bytes_of(run.plan_bytes));
  print("a dry run: nothing was written\n");
}

void find_and_draw(const Experiment& experiment, const TrainArguments& arguments) {
  check_chart("--find-lr", arguments.find_rate);
  const RateFinding finding = find_rate(experiment, arguments.threads);
  const Plot plot{.title = text_of(experiment.name, ": loss while the learning rate grows"),
                  .x = {.title = "learning rate", .log = true},
                  .y = {.title = "loss, running mean"},
                  .lines = {{.name = "", .x = finding.rates, .y = finding.losses}}};
  write_chart(arguments.find_rate, plot);
  if (arguments.json) {
    const Json result = {
        {"suggested_lr", finding.suggested}, {"rates", finding.rates}, {"losses", finding.losses}};
    print("{}\n", result.dump(2));
  } else {
    print("a learning rate to try: {:.2g}, a tenth of the one with the smallest loss\n", finding.suggested);
  }
}

/// A run folder, or the experiment file in it, may replace an experiment. The run is then resumed.
void find_run(TrainArguments& arguments) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::string& file = arguments.experiment.file;
  fs::path folder = file;
  const bool is_folder = fs::is_directory(folder, error);
  if (is_folder) {
    if (arguments.seeds > 1)
      throw InputError({folder.string()}, Rule::conflict, "is one run. --seeds takes an experiment file.");
    file = RunFolder(folder).experiment_file().string();
    if (!arguments.resume) {
      throw InputError({folder.string()}, Rule::wrong_type, "is a folder", {},
                       "Give an experiment file, or --resume to resume the run there.");
    }
  } else {
    folder = folder.parent_path().empty() ? fs::path(".") : folder.parent_path();
    if (!is_experiment_of_run(file)) return;
  }
  if (!arguments.quiet) warn(retraining_warnings(RunFolder(folder).weights_file(), file));
  if (!arguments.resume) return;
  if (arguments.out.empty() && arguments.seeds == 1) arguments.out = folder.string();
  if (is_folder && !fs::equivalent(folder, arguments.out, error))
    throw InputError(
        {.item = "--out"}, Rule::conflict,
        text_of("the run in ", folder.string(), " goes on in its own folder"), quote(arguments.out),
        text_of("Leave --out out, or begin another run: lagtape train ", file, " --out ", arguments.out));
}

/// Prints on stderr how far a resumed run is.
void announce(const Trainer& trainer, const Experiment& experiment) {
  const std::int64_t steps = trainer.steps();
  std::string line;
  if (trainer.steps_before() != steps) {
    line = text_of("the run had ", trainer.steps_before(), " steps in all, now ", steps,
                   experiment.data.fresh ? "" : text_of(" (", experiment.train.epochs, " epochs)"), "; ");
  }
  if (trainer.has_stopped_early()) {
    line += text_of("nothing to do: it ended early after ", trainer.place(), ", as train.patience is ",
                    experiment.train.patience);
  } else if (trainer.is_finished()) {
    line += text_of("nothing to do: all ", steps, " steps are done");
  } else {
    line += text_of("resuming after ", trainer.place());
  }
  note("{}\n", line);
  if (trainer.has_other_data())
    warn({"the training set is not the one that the run began with: its numbers differ"});
}

/// The experiment as the options change it.
Experiment read(const TrainArguments& arguments) {
  std::vector<std::string> set = arguments.experiment.set;
  if (arguments.seed >= 0) set.push_back(fmt::format("seed={}", arguments.seed));
  if (!arguments.init.empty()) {
    const std::string path = std::filesystem::absolute(arguments.init).string();
    if (!is_utf8(path))
      throw InputError({.item = "--init"}, Rule::wrong_type,
                       text_of("a path that is not UTF-8, which JSON cannot hold: ", quote(path, 200)));
    set.push_back(text_of("train.init=", Json(path).dump()));
  }
  if (arguments.overfit > 0) set.push_back(fmt::format("train.overfit={}", arguments.overfit));
  Experiment experiment = read_experiment(arguments.experiment.parse(), set);
  if (arguments.resume || is_experiment_of_run(arguments.experiment.file)) advise_on_missing_data(experiment);
  return experiment;
}

/// Whether the metric that decides which state is kept says nothing.
bool is_undefined(const Experiment& experiment, const EvaluationReport& report) {
  return !experiment.metrics.empty() && !report.valid.empty() &&
         !is_rankable(metric(experiment.metrics.front()).larger_is_better,
                      value_of(report.valid, experiment.metrics.front()));
}

/// The error with the options that lead out of it, where it is the folder that does not fit.
InputError with_advice(const InputError& error, const std::string& folder) {
  const Problem& problem = error.problems().front();
  if (problem.place.file != folder) return error;
  if (problem.rule == Rule::exists)
    return error.with_hint("Give another --out, or --resume to continue that run.");
  if (problem.rule == Rule::missing)
    return error.with_hint(
        text_of("Give another --out, and --init ", folder, " to begin with these weights."));
  return error;
}

/// Trains into a folder; progress goes to stderr.
RunSummary train_into(const std::string& folder, const Experiment& experiment,
                      const TrainArguments& arguments) {
  const bool quiet = arguments.quiet || !arguments.is_first();
  Progress progress(quiet);
  RunOptions options;
  options.folder = folder;
  options.resume = arguments.resume;
  options.threads = arguments.threads;
  options.tensorboard = arguments.tensorboard;
  options.ranks = arguments.ranks;
  if (arguments.seeds > 1) options.how_to_go_on = "the same command with --resume";
  options.hooks.stepped = [&](const StepReport& report) { progress.stepped(report); };
  options.hooks.within_step = options.hooks.stepped;
  options.hooks.evaluated = [&, warned = quiet](const EvaluationReport& report) mutable {
    progress.evaluated(report);
    if (warned || !is_undefined(experiment, report)) return;
    warned = true;
    warn({text_of(experiment.metrics.front(),
                  " is not finite on valid. While that lasts, the state with the smallest loss is kept")});
  };
  options.hooks.save = [&] { progress.clear(); };
  options.hooks.stop_requested = stop_requested;
  if (!quiet) {
    options.sized = announce_cost;
    options.built = [](const Trainer& trainer, const TrainingSetup& setup) {
      announce_beginning(setup.words, setup.weights);
      tell(setup.task.notes);
      warn(training_warnings(trainer, setup.model, setup.task));
    };
    options.resumed = [&](const Trainer& trainer) { announce(trainer, experiment); };
  }
  try {
    return train_run(experiment, options);
  } catch (const InputError& error) {
    throw with_advice(error, folder);
  }
}

std::string default_folder(const Experiment& experiment, std::uint64_t seed) {
  return fmt::format("runs/{}-{}{}", experiment.name, seed, experiment.train.overfit > 0 ? "-overfit" : "");
}

/// The mean and the standard deviation of each metric over several runs.
Json spread_of(std::vector<sweep::Trial>& trials, const std::vector<RunSummary>& summaries,
               Evaluation RunSummary::*split) {
  Json spread = Json::object();
  for (std::size_t m = 0; m < (summaries.front().*split).size(); ++m) {
    for (std::size_t i = 0; i < trials.size(); ++i) trials[i].value = (summaries[i].*split)[m].second;
    const sweep::Outcome outcome = sweep::outcomes_of({}, 1, trials).front();
    spread[(summaries.front().*split)[m].first] = {{"mean", outcome.mean}, {"deviation", outcome.deviation}};
  }
  return spread;
}

void print_spread(const char* split, const Json& spread) {
  print("{:<6}", split);
  for (const auto& [name, value] : spread.items())
    print("  {} {:.6g} +- {:.2g}", name, value["mean"].get<double>(), value["deviation"].get<double>());
  print("\n");
}

/// Trains one row with several seeds. Unlike the trials of a table they are trained in this process: one after another,
/// with all threads, their progress on the terminal.
void train_seeds(const TrainArguments& arguments) {
  const Experiment first = read(arguments);
  if (first.seed > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - arguments.seeds + 1))
    throw InputError({.item = "--seeds"}, Rule::out_of_range,
                     text_of("there are fewer seeds from ", first.seed, " on"), text_of(arguments.seeds));
  const std::size_t row = 0;
  std::vector<sweep::Trial> trials = sweep::trials_of(
      std::span(&row, 1), static_cast<std::int64_t>(first.seed), arguments.seeds,
      [&](std::size_t, std::int64_t seed) {
        return arguments.out.empty() ? default_folder(first, static_cast<std::uint64_t>(seed))
                                     : fmt::format("{}-{}", arguments.out, seed);
      });
  for (const sweep::Trial& trial : trials)  // before the first training, which may be long
    RunFolder(trial.folder).check(with_seed(first, trial.seed), arguments.resume);
  std::vector<RunSummary> summaries;
  Json runs = Json::array();
  for (sweep::Trial& trial : trials) {
    const std::string folder = trial.folder.string();
    summaries.push_back(train_into(folder, with_seed(first, trial.seed), arguments));
    trial.state = sweep::RunState::done;
    const RunSummary& summary = summaries.back();
    Json run = json_of(summary);
    run["run"] = folder;
    runs.push_back(std::move(run));
    if (!arguments.json)
      print("{}  {}\n", folder, line_of(summary.test.empty() ? summary.valid : summary.test));
  }
  const Json valid = spread_of(trials, summaries, &RunSummary::valid),
             test = spread_of(trials, summaries, &RunSummary::test);
  if (arguments.json) return print("{}\n", Json{{"runs", runs}, {"valid", valid}, {"test", test}}.dump(2));
  if (!valid.empty()) print_spread("valid", valid);
  if (!test.empty()) print_spread("test", test);
}

/// Options that need one rank.
void check_ranks(const TrainArguments& arguments) {
  if (arguments.ranks == nullptr) return;
  const auto refuse = [](const char* option) {
    throw InputError({.item = option}, Rule::not_supported, "is not for several processes", {},
                     "Run it without mpirun.");
  };
  if (!arguments.find_rate.empty()) refuse("--find-lr");
  if (arguments.dry_run) refuse("--dry-run");
  if (arguments.seeds > 1) refuse("--seeds");
}

/// A '#' in the name of the folder becomes the first number, from 1, whose folder is not there yet; to resume, the last
/// that is.
std::string numbered(const std::string& out, bool resume) {
  const std::size_t place = out.rfind('#');
  if (place == std::string::npos) return out;
  const auto folder = [&](int n) { return text_of(out.substr(0, place), n, out.substr(place + 1)); };
  int n = 1;
  while (std::filesystem::exists(folder(n))) ++n;
  return folder(resume && n > 1 ? n - 1 : n);
}

void train(TrainArguments arguments) {
  if (arguments.seeds == 1 && arguments.is_first()) arguments.out = numbered(arguments.out, arguments.resume);
  find_run(arguments);
  check_ranks(arguments);
  if (arguments.seeds > 1) return train_seeds(arguments);
  const Experiment experiment = read(arguments);
  if (!arguments.find_rate.empty()) return find_and_draw(experiment, arguments);
  if (arguments.dry_run) return print_dry_run(dry_run(experiment, arguments.threads), arguments.json);
  const std::string folder =
      arguments.out.empty() ? default_folder(experiment, experiment.seed) : arguments.out;
  const RunSummary summary = train_into(folder, experiment, arguments);
  if (!arguments.is_first()) return;
  if (arguments.json) {
    print("{}\n", json_of(summary).dump(2));
  } else {
    print_summary(summary, folder);
  }
}

void run(const TrainArguments& given) {
  TrainArguments arguments = given;
  catch_signals();
  run_among_ranks([&](Ranks* ranks) {
    arguments.ranks = ranks;
    train(arguments);
  });
}

}  // namespace

Command train_command() {
  return make_command<TrainArguments>(
      "train", "Train the model of an experiment into a run folder", add_options, run,
      {{"lagtape train load.json", "into runs/load-0"},
       {"lagtape train load.json --seed 3 --set train.epochs=20", "another seed, a changed value"},
       {"lagtape train load.json --resume", "continue where it was stopped, with the same bits"}});
}

}  // namespace lagtape::cli
