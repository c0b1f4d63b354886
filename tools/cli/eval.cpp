#include <fmt/core.h>

#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/analysis/scored_run.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/common_options.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/format.h"
#include "lagtape/tools/cli/terminal/horizons.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/cli/terminal/place.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/forecast/horizon_scores.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/provenance.h"
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
           "accept rows of any frequency; by default that of the training")
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
    const bool is_of_call = !error.problems().front().place.op.empty();
    if (!arguments.data.empty() || is_of_call) throw named(error, arguments.run);
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

void run(const EvalArguments& arguments) {
  check_chart("--plot", arguments.plot);
  if (!arguments.horizon.empty()) return score_forecasts(arguments);
  ThreadPool pool(arguments.threads);
  const ScoredRun scored = load_scored_run(
      arguments.run, {.split = arguments.split, .data = arguments.data, .frequency = arguments.frequency},
      pool);
  const Source& source = scored.source;
  const Task& task = scored.task;
  ModelOp op(source.model);
  std::optional<Confusion> confusion;
  std::optional<ForecastPlot> forecast;
  if (arguments.confusion) confusion.emplace(task.shape);
  if (!arguments.plot.empty()) forecast.emplace(forecast_of(source, task.shape));
  SeriesScores by_series(source.experiment, source.model, scored.split);
  EvaluationOptions options;
  options.scored = [&](const Tensor& outputs, const Batch& batch) {
    if (confusion) confusion->add(outputs, batch);
    if (forecast) forecast->add(outputs, batch);
    by_series.add(outputs, batch);
  };
  const Evaluation evaluation = evaluate(source.experiment, source.model, op, scored.split, pool, options);
  if (forecast)
    write_chart(arguments.plot, forecast->plot(title_of(source, arguments.split), &scored.split,
                                               target_names(source.experiment)));
  if (arguments.json) {
    print("{}\n", json_of(evaluation, confusion ? &*confusion : nullptr, by_series.all()).dump(2));
    return;
  }
  print("{}\n", line_of(evaluation));
  if (confusion) print("{}", cli::table_of(*confusion));
  print("{}", cli::table_of(by_series.all()));
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
