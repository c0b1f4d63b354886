#include <fmt/core.h>

#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/format.h"
#include "lagtape/tools/cli/terminal/horizons.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/forecast/horizon_scores.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/provenance.h"
#include "lagtape/tools/train/source.h"
#include "lagtape/tools/view/forecast_plot.h"

namespace lagtape::cli {

namespace {

struct EvalArguments {
  std::string run, split = "test", data, plot, horizon, frequency;
  std::int64_t season = 0;
  std::optional<double> interval;
  int threads = 1;
  bool confusion = false, json = false;
};

void add_options(Options& options, EvalArguments& arguments) {
  options.add("RUN", &arguments.run, "run folder or weights file").required();
  options.add("--split", &arguments.split, "train, valid, test, or all, which is every sequence of new data")
      .one_of({"train", "valid", "test", "all"})
      .show_default();
  options.add("--data", &arguments.data, "path of the data files, in place of data.path")
      .not_empty()
      .called("PATH");
  options
      .add("--frequency", &arguments.frequency,
           "take rows of any frequency; by default they have that of the training")
      .one_of({"any"})
      .called("any");
  add_threads(options, arguments.threads);
  options.add("--confusion", &arguments.confusion,
              "print the confusion matrix: a row for each true class, a column for each predicted one");
  options
      .add("--plot", &arguments.plot,
           "draw the predictions over the truth (.svg, .png or .pdf), for real targets; with --horizon the "
           "errors")
      .not_empty()
      .called("FILE");
  options
      .add("--horizon", &arguments.horizon,
           "score forecasts of a recording from the model's own predictions, 1..N steps ahead or a length of "
           "time such as 2d, beside the last value, the value a season before, Theta and a ridge regression")
      .not_empty()
      .called("N")
      .excludes({"--confusion"});
  options.add("--season", &arguments.season, "steps of a season; by default a day, where rows have times")
      .at_least(1)
      .called("STEPS")
      .needs({"--horizon"});
  options
      .add("--interval", &arguments.interval,
           "probability, such as 0.9, of intervals from the errors of forecasts in the validation rows: how "
           "often "
           "they contain the truth")
      .called("LEVEL")
      .needs({"--horizon"});
  options.add("--json", &arguments.json, "print the result as one JSON object");
}

/// Data from another path may differ from those of the training.
void check_fit(const Source& source, const DataShape& data, const std::string& run) {
  const auto refuse = [&](Rule rule, const auto&... what) {
    throw InputError({run}, rule, text_of("its model ", what..., "."));
  };
  const LossFunction& loss = source.experiment.loss;
  if (!loss_fits(loss, data)) throw InputError({run}, Rule::conflict, mismatch(loss, data));
  const Model& model = source.model;
  if (data.input != model.input_width())
    refuse(Rule::shape, "takes ", model.input_width(), " inputs per step. The data have ", data.input);
  if (model.tokens() > 0 && data.tokens != model.tokens())
    refuse(Rule::conflict, "knows ", model.tokens(), " tokens. The data have ", data.tokens);
  if (output_width(loss, data) != model.output_width())
    refuse(Rule::shape, "has ", model.output_width(), " outputs. The data need ", output_width(loss, data));
  if (data.every_step != reads_every_step(model.at())) {
    refuse(Rule::conflict, data.every_step
                               ? "reads out once per sequence. The data have a target at every step"
                               : "reads out at every step. The data have one target per sequence");
  }
}

/// Throws InputError for a model whose outputs are logits, which have no units.
ForecastPlot forecast_of(const Source& source, const DataShape& data) {
  const LossFunction& loss = source.experiment.loss;
  if (!loss.is_real()) {
    throw unexpected({.item = "--plot"}, Rule::not_supported, "a model of real numbers",
                     text_of("one trained with ", name_of(loss)));
  }
  return {data, normalization_of_data(source.model).output, loss};
}

std::string title_of(const Source& source, const std::string& split) {
  return text_of(source.experiment.name, ": prediction over truth (", split, ")");
}

/// Reads "48", "1..48" or "2d".
ForecastLength largest_horizon(std::string_view text) {
  if (text.starts_with("1..")) text.remove_prefix(3);
  return ForecastLength::parse(text, {.item = "--horizon"});
}

HorizonScores scores_of(const EvalArguments& arguments) {
  const Model model = load_model(arguments.run);
  try {
    return score_horizons(model, {.steps = largest_horizon(arguments.horizon),
                                  .split = arguments.split,
                                  .path = arguments.data,
                                  .frequency = arguments.frequency,
                                  .season = arguments.season,
                                  .interval = arguments.interval});
  } catch (const InputError& error) {
    if (!arguments.data.empty()) throw;
    throw error.with_hint(advice_on_missing_data(document_of(model)));
  }
}

void score_forecasts(const EvalArguments& arguments) {
  const HorizonScores scores = scores_of(arguments);
  warn_of_later_rows(scores.read_later);
  if (!arguments.plot.empty()) {
    const std::string title = text_of("errors of ", scores.origins, " forecasts (", arguments.split, ")");
    write_chart(arguments.plot, plot_of(scores, title));
  }
  if (arguments.json) {
    print("{}\n", cli::json_of(scores).dump(2));
  } else {
    print("{}", cli::table_of(scores));
  }
}

/// The task with the split that is asked for. New data that are too few to be divided as those of the training are
/// refused with the way to score them whole.
Task load_task(const EvalArguments& arguments, const Experiment& experiment, ThreadPool& pool) try {
  return arguments.split == "all" ? experiment.load_to_score(pool) : experiment.load_task(pool);
} catch (const InputError& error) {
  if (arguments.data.empty() || arguments.split == "all") throw;
  try {
    experiment.load_to_score(pool);
  } catch (const InputError&) {
    throw error;
  }
  throw error.with_hint(
      "--data is divided into train, valid and test as the experiment says. --split all scores all of it.");
}

void run(const EvalArguments& arguments) {
  check_chart("--plot", arguments.plot);
  if (!arguments.horizon.empty()) return score_forecasts(arguments);
  std::vector<std::string> set;
  if (!arguments.data.empty()) set.push_back("data.path=" + arguments.data);
  if (!arguments.frequency.empty()) set.push_back("data.frequency=" + arguments.frequency);
  const Source source = load_run(arguments.run, set);
  ThreadPool pool(arguments.threads);
  const bool all = arguments.split == "all";
  if (all && source.experiment.data.fresh) {
    throw InputError(
        Problem{.place = {.item = "--split all"},
                .rule = Rule::not_supported,
                .statement = text_of(arguments.run, " draws fresh training sequences for every step"),
                .expected = "valid or test"});
  }
  const Task task = load_task(arguments, source.experiment, pool);
  const Dataset& split = all ? *task.test : task.split(arguments.split);
  if (split.size() == 0 || split.size() == Dataset::kUnlimited) {
    throw InputError({.item = "--split"}, Rule::missing,
                     text_of(arguments.run, " has no fixed sequences in this split"), quote(arguments.split));
  }
  check_fit(source, task.shape, arguments.run);
  ModelOp op(source.model);
  std::optional<Confusion> confusion;
  std::optional<ForecastPlot> forecast;
  if (arguments.confusion) confusion.emplace(task.shape);
  if (!arguments.plot.empty()) forecast.emplace(forecast_of(source, task.shape));
  EvaluationOptions options;
  options.scored = [&](const Tensor& outputs, const Batch& batch) {
    if (confusion) confusion->add(outputs, batch);
    if (forecast) forecast->add(outputs, batch);
  };
  const Evaluation evaluation = evaluate(source.experiment, source.model, op, split, pool, options);
  if (forecast)
    write_chart(arguments.plot,
                forecast->plot(title_of(source, arguments.split), target_names(source.experiment)));
  if (arguments.json) {
    print("{}\n", cli::json_of(evaluation, confusion ? &*confusion : nullptr));
    return;
  }
  print("{}\n", line_of(evaluation));
  if (confusion) print("{}", cli::table_of(*confusion));
}

}  // namespace

Command eval_command() {
  return make_command<EvalArguments>(
      "eval", "Evaluate a trained model: print its metrics", add_options, run,
      {{"lagtape eval runs/load-0", "metrics of the test set"},
       {"lagtape eval runs/load-0 --plot test.svg", "predictions over the truth"},
       {"lagtape eval runs/load-0 --horizon 1..48", "forecasts beside naive ones"}});
}

}  // namespace lagtape::cli
