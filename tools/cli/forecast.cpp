#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "lagtape/core/error.h"
#include "lagtape/core/io/ending.h"
#include "lagtape/core/io/file.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/chart/chart_file.h"
#include "lagtape/tools/cli/command.h"
#include "lagtape/tools/cli/terminal/announcements.h"
#include "lagtape/tools/cli/terminal/output_file.h"
#include "lagtape/tools/cli/terminal/print.h"
#include "lagtape/tools/forecast/prediction_file.h"
#include "lagtape/tools/forecast/series_forecast.h"
#include "lagtape/tools/train/experiment_reader.h"
#include "lagtape/tools/train/provenance.h"
#include "lagtape/tools/train/source.h"

namespace lagtape::cli {

namespace {

struct ForecastArguments {
  std::string run, input, future, output, plot, steps, from, frequency;
  std::vector<std::string> runs;
  std::int64_t season = 0, paths = PathOptions().paths;
  std::optional<double> interval;
  bool json = false;
};

void add_inputs(Options& options, ForecastArguments& arguments) {
  options.add("RUN", &arguments.run, "run folder or weights file of a model that was trained on a recording")
      .required();
  options
      .add("--input", &arguments.input,
           "the past: a file like the one of the training. Rows at its end without targets are known future "
           "inputs")
      .required()
      .called("FILE");
  options
      .add(
          "--future", &arguments.future,
          "the rows that follow, with the \"future\" inputs, in place of rows at the end of --input; rows up "
          "to the last one there are left out")
      .not_empty()
      .called("FILE");
  options
      .add("--frequency", &arguments.frequency,
           "take rows of any frequency; by default they have that of the training")
      .one_of({"any"})
      .called("any");
  options
      .add("--steps", &arguments.steps,
           "number of steps to forecast, or a length of time: 2d, 48h, 90min, 1W, 3 months")
      .required()
      .called("N");
  options
      .add(
          "--from", &arguments.from,
          "time of the first prediction (without times: its row, from 0), or -48 for 48 rows before the end; "
          "by default the one after the last row")
      .not_empty()
      .called("TIME");
}

void add_outputs(Options& options, ForecastArguments& arguments) {
  options
      .add("--runs", &arguments.runs,
           "more runs of the same data: the forecast is their mean, between lowest and highest")
      .repeatable()
      .called("RUN");
  options
      .add("--season", &arguments.season,
           "steps of a period, for the seasonal naive forecast beside the model's")
      .at_least(1)
      .called("STEPS");
  options
      .add("--paths", &arguments.paths,
           "paths that are drawn from a model of quantiles or distributions, as it reads its own "
           "predictions; 0: "
           "it reads the medians or means")
      .at_least(0)
      .show_default()
      .called("N");
  options
      .add("--interval", &arguments.interval,
           "probability, such as 0.9, of an interval around each prediction, from the errors of earlier "
           "forecasts in the rows of --input after those of the training")
      .called("LEVEL");
  options
      .add("--output", &arguments.output,
           "write the forecast to this file, in place of stdout: a table (.csv), .json, or arrays for NumPy "
           "(.npz)")
      .not_empty()
      .called("FILE");
  options
      .add("--plot", &arguments.plot,
           "draw the forecast, after the past and over the truth (.svg, .png or .pdf)")
      .not_empty()
      .called("FILE");
  options.add("--json", &arguments.json, "print the scores as one JSON object; needs --output")
      .needs({"--output"});
}

void add_options(Options& options, ForecastArguments& arguments) {
  add_inputs(options, arguments);
  add_outputs(options, arguments);
}

/// Throws InputError where a run reads or predicts other columns than the first one, so that a mean of both means nothing.
void check_same_columns(const std::vector<Model>& models, const ForecastArguments& arguments) {
  const Json first = data_of(models.front());
  std::vector<const char*> keys = {"task",        "input",    "target",     "past",    "future", "static",
                                   "past_target", "calendar", "categories", "missing", "horizon"};
  // A model that reads out once reads whole windows.
  if (std::ranges::any_of(models, [](const Model& model) { return !reads_every_step(model.at()); }))
    keys.push_back("window");
  for (std::size_t i = 1; i < models.size(); ++i) {
    const Json other = data_of(models[i]);
    for (const char* key : keys) {
      const Json& expected = value_at(first, text_of("/", key));
      const Json& found = value_at(other, text_of("/", key));
      if (!(found == expected))
        throw unexpected({.file = arguments.runs[i - 1], .pointer = text_of("/data/", key)}, Rule::conflict,
                         text_of(shortened(expected.dump(), 200), ", as ", arguments.run, " has"),
                         shortened(found.dump(), 200));
    }
  }
}

Json json_of(const ForecastScores& scores) {
  Json json = {{"known", scores.known}};
  if (scores.known == 0) return json;
  json["rmse"] = scores.rmse;
  json["persistence_rmse"] = scores.persistence;
  if (!std::isnan(scores.seasonal)) json["seasonal_rmse"] = scores.seasonal;
  return json;
}

std::string row_of(const SeriesForecast& forecast, std::int64_t target) {
  const ForecastScores scores = scores_of(forecast, target);
  std::string line =
      fmt::format("{}: {} steps", forecast.targets[static_cast<std::size_t>(target)], forecast.steps());
  if (scores.known == 0) return line + "\n";
  line += fmt::format(", rmse {:.4g} over the {} whose truth is known; the last value: {:.4g}", scores.rmse,
                      scores.known, scores.persistence);
  if (!std::isnan(scores.seasonal))
    line += fmt::format("; the value {} steps before: {:.4g}", forecast.season, scores.seasonal);
  return line + "\n";
}

/// Warns of a past that is short beside what the model was trained on.
void warn_of_short_past(const SeriesForecast& forecast) {
  const std::int64_t rows = forecast.past.size(0);
  if (2 * rows >= forecast.window) return;
  warn({text_of("the past without a gap has ", rows, rows == 1 ? " row" : " rows",
                "; the model was trained on sequences of ", forecast.window)});
}

void run(const ForecastArguments& arguments) {
  check_ending("--output", arguments.output, kPredictionEndings);
  check_chart("--plot", arguments.plot);
  const ForecastLength steps = ForecastLength::parse(arguments.steps, {.item = "--steps"});
  std::vector<std::string> inputs = arguments.runs;
  inputs.insert(inputs.end(), {arguments.run, arguments.input, arguments.future});
  check_not_an_input("--output", arguments.output, inputs);
  std::vector<Model> models;
  models.push_back(load_model(arguments.run));
  for (const std::string& run : arguments.runs) models.push_back(load_model(run));
  check_same_columns(models, arguments);
  const SeriesForecast forecast = forecast_series(models, {.input = arguments.input,
                                                           .future = arguments.future,
                                                           .frequency = arguments.frequency,
                                                           .steps = steps,
                                                           .from = arguments.from,
                                                           .season = arguments.season,

                                                           .paths = {.paths = arguments.paths},
                                                           .interval = arguments.interval});
  warn_of_short_past(forecast);
  warn_of_later_rows(forecast.read_later);
  if (forecast.compared > 0)
    note_text(text_of("intervals of ", *arguments.interval, " come from the errors of ", forecast.compared,
                      " earlier forecasts in ", arguments.input, "\n"));
  if (arguments.output.empty()) {
    print("{}", csv_of(forecast));
  } else {
    write_file_atomically(arguments.output, file_of(forecast, ending_of(arguments.output)));
  }
  if (!arguments.plot.empty())
    write_chart(arguments.plot, plot_of(forecast, text_of("forecast of ", forecast.steps(), " steps")));
  Json scores = Json::object();
  for (std::int64_t i = 0; i < std::ssize(forecast.targets); ++i) {
    scores[forecast.targets[static_cast<std::size_t>(i)]] = json_of(scores_of(forecast, i));
    if (!arguments.json) (arguments.output.empty() ? note_text : print_text)(row_of(forecast, i));
  }
  if (arguments.json) print("{}\n", Json{{"steps", forecast.steps()}, {"targets", scores}}.dump(2));
}

}  // namespace

Command forecast_command() {
  return make_command<ForecastArguments>(
      "forecast", "Forecast a recording from a model's own predictions", add_options, run,
      {{"lagtape forecast runs/load-0 --input load.csv --steps 48 --output next.csv",
        "the 48 steps after a recording"},
       {"lagtape forecast runs/load-0 --input load.csv --steps 2d --from -48",
        "two days, from 48 rows before its end"},
       {"lagtape forecast runs/load-0 --input load.csv --steps 48 --plot next.svg", "and a picture"}});
}

}  // namespace lagtape::cli
