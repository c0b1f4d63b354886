#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

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
#include "lagtape/tools/train/warnings.h"

namespace lagtape::cli {

namespace {

struct ForecastArguments {
  std::string run, input, future, output, plot, steps, from, frequency;
  std::vector<std::string> runs, series;
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
      .add("--future", &arguments.future,
           "the following rows with the \"future\" inputs, in place of rows at the end of --input, whose "
           "times it skips. For several files, name the recording in a column \"series\", or give a file of "
           "its name for each: 'next/*.csv'")
      .not_empty()
      .called("FILE");
  options
      .add("--frequency", &arguments.frequency,
           "accept rows of any frequency; by default that of the training")
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
      .add("--series", &arguments.series,
           "names of the series to forecast, with commas between them; by default all of the file")
      .called("NAME,...");
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
  options.add("--json", &arguments.json,
              "print the scores as one JSON object, without --output with the forecast");
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

/// The names in "a,b", or one that has a comma itself.
std::vector<std::string> names_of_series(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& list : given) {
    std::size_t begin = 0;
    while (begin <= list.size()) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      names.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return names;
}

Json json_of(const ForecastScores& scores) {
  Json json = {{"known", scores.known}};
  if (scores.known == 0) return json;
  json["rmse"] = scores.rmse;
  json["persistence_rmse"] = scores.persistence;
  if (!std::isnan(scores.seasonal)) json["seasonal_rmse"] = scores.seasonal;
  return json;
}

Json json_of(std::span<const SeriesForecast> forecasts) {
  Json targets = Json::object();
  for (std::int64_t i = 0; i < std::ssize(forecasts.front().targets); ++i)
    targets[forecasts.front().targets[static_cast<std::size_t>(i)]] = json_of(scores_of(forecasts, i));
  Json json = {{"steps", forecasts.front().steps()}, {"targets", std::move(targets)}};
  for (const SeriesForecast& one : forecasts)
    if (!one.name.empty())
      for (std::int64_t i = 0; i < std::ssize(one.targets); ++i)
        json["series"][one.name][one.targets[static_cast<std::size_t>(i)]] = json_of(scores_of(one, i));
  return json;
}

std::string row_of(std::span<const SeriesForecast> forecasts, std::int64_t target) {
  const SeriesForecast& first = forecasts.front();
  const ForecastScores scores = scores_of(forecasts, target);
  const std::string of_series = forecasts.size() > 1 ? fmt::format(" of each of {} series", forecasts.size())
                                : first.name.empty() ? std::string()
                                                     : fmt::format(" of {}", first.name);
  std::string line = fmt::format("{}: {} step{}{}", first.targets[static_cast<std::size_t>(target)],
                                 first.steps(), first.steps() == 1 ? "" : "s", of_series);
  if (scores.known == 0) return line + "\n";
  line += fmt::format(", rmse {:.4g} over the {} whose truth is known; the last value: {:.4g}", scores.rmse,
                      scores.known, scores.persistence);
  if (!std::isnan(scores.seasonal))
    line += fmt::format("; the value {} steps before: {:.4g}", first.season, scores.seasonal);
  return line + "\n";
}

/// The scores of the first of several series, a line each, and how many more there are.
std::string rows_by_series(std::span<const SeriesForecast> forecasts) {
  constexpr std::size_t kMost = 10;
  std::string rows;
  if (forecasts.size() < 2) return rows;
  for (const SeriesForecast& one : forecasts.first(std::min(kMost, forecasts.size())))
    for (std::int64_t i = 0; i < std::ssize(one.targets); ++i)
      if (scores_of(one, i).known > 0) rows += "  " + row_of(std::span(&one, 1), i);
  if (!rows.empty() && forecasts.size() > kMost)
    rows += fmt::format("  {} series more: --json has all.\n", forecasts.size() - kMost);
  return rows;
}

/// Warns of a past that is short beside what the model was trained on.
void warn_of_short_past(std::span<const SeriesForecast> forecasts) {
  const SeriesForecast& forecast =
      *std::ranges::min_element(forecasts, {}, [](const SeriesForecast& one) { return one.past.size(0); });
  const std::int64_t rows = forecast.past.size(0);
  if (2 * rows >= forecast.window) return;
  const std::string whose = forecasts.size() > 1 ? text_of(" of ", forecast.name) : std::string();
  warn({text_of("the past without a gap", whose, " has ", rows, rows == 1 ? " row" : " rows",
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
  for (const Model& model : models) warn(grammar_warnings(model));
  check_same_columns(models, arguments);
  const std::vector<SeriesForecast> forecasts =
      forecast_series(models, {.input = arguments.input,
                               .future = arguments.future,
                               .frequency = arguments.frequency,
                               .steps = steps,
                               .from = arguments.from,
                               .season = arguments.season,
                               .paths = {.paths = arguments.paths},
                               .interval = arguments.interval,
                               .series = names_of_series(arguments.series)});
  warn_of_short_past(forecasts);
  const SeriesForecast& first = forecasts.front();
  warn_of_later_rows(first.read_later);
  for (const std::string& note : first.notes) note_text(note + "\n");
  if (first.usual_step > 0)
    warn({text_of("the times of the rows are not evenly apart: those of the forecast are ", first.usual_step,
                  " s apart, the usual distance (\"frequency\" says another)")});
  if (first.compared > 0)
    note_text(text_of("intervals of ", *arguments.interval, " come from the errors of ", first.compared,
                      " earlier forecasts in ", arguments.input, "\n"));
  const PredictedTargets all = joined(forecasts);
  if (arguments.output.empty()) {
    if (!arguments.json) print("{}", csv_of(all));
  } else {
    write_file_atomically(arguments.output, file_of(all, ending_of(arguments.output)));
  }
  if (!arguments.plot.empty())
    write_chart(arguments.plot, plot_of(forecasts, text_of("forecast of ", first.steps(), " steps")));
  if (arguments.json) {
    Json json = json_of(forecasts);
    if (arguments.output.empty()) json["forecast"] = lagtape::json_of(all);
    return print("{}\n", json.dump(2));
  }
  std::string rows;
  for (std::int64_t i = 0; i < std::ssize(first.targets); ++i) rows += row_of(forecasts, i);
  (arguments.output.empty() ? note_text : print_text)(rows + rows_by_series(forecasts));
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
