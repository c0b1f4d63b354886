#include "lagtape/tools/forecast/series_forecast.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/core/quote.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/data/series/naive_errors.h"
#include "lagtape/data/table/number.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/tools/forecast/conformal.h"

namespace lagtape {

namespace {

/// A row at which a forecast can begin, as there is a row right before it, and its time; without times its number.
struct ForecastOrigin {
  std::int64_t time;
  std::int64_t row;
};

std::vector<ForecastOrigin> origins_of(const Panel& panel) {
  std::vector<ForecastOrigin> origins;
  for (const RowRange& segment : panel.segments)
    for (std::int64_t row = segment.first + 1; row <= std::min(segment.end(), panel.series.front().origin());
         ++row)
      origins.push_back({panel.axis.times.empty() ? row : panel.time_of(row, segment.end()), row});
  return origins;
}

/// The number of "-48", unless the times of the file are such numbers.
std::optional<std::int64_t> rows_before_end(const TimeAxis& axis, const std::string& from) {
  const bool has_negative_times = axis.format.count() && !axis.times.empty() && axis.times.front() < 0;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), number);
  const bool is_count = error == std::errc() && end == from.data() + from.size() && number < 0;
  return is_count && !has_negative_times ? std::optional(number) : std::nullopt;
}

/// The time that was asked for, or the row: the first one that is not before it, and whether it is that very one. Without an
/// offset a time is by the clock of the file.
std::pair<std::int64_t, bool> time_of_first(const TimeAxis& axis, const SeriesForecastOptions& options) {
  const auto number = parse_number(options.from);
  if (axis.times.empty() && number && std::isfinite(*number)) {
    const double row = std::clamp(std::ceil(*number), -1.0, 9e15);
    return {static_cast<std::int64_t>(row), row == *number};
  }
  const std::optional<ReadTime> own = axis.format.read(options.from);
  const std::optional<ReadTime> from = own ? own : read_time(options.from);
  if (axis.times.empty() || !from)
    throw unexpected({.item = "--from"}, Rule::syntax,
                     "a date such as 2024-01-31 13:00, or a row, or -48 for 48 rows before the end",
                     quote(options.from));
  if (from->offset || (own && axis.format.is_absolute())) return {from->time, true};
  if (axis.has_several_offsets)
    throw unexpected({.item = "--from"}, Rule::missing,
                     text_of("an offset from UTC, as in ", options.from, "Z, since the times of ",
                             options.input.string(), " have several"),
                     quote(options.from));
  return {axis.zone.to_utc(from->time), true};
}

/// Says which of the origins are nearest to a time that is between number `next` and the one before it.
[[noreturn]] void refuse_first(const std::vector<ForecastOrigin>& origins, std::int64_t next,
                               const TimeAxis& axis, const SeriesForecastOptions& options) {
  const std::string where = options.input.string();
  if (origins.empty()) throw InputError({where}, Rule::missing, "has no row with targets to continue.");
  const auto label = [&](const ForecastOrigin& origin) {
    return axis.times.empty() ? text_of(origin.row) : label_of(axis, origin.time);
  };
  std::string nearest;
  for (std::int64_t i = std::max<std::int64_t>(next - 1, 0); i <= next && i < std::ssize(origins); ++i)
    nearest += text_of(nearest.empty() ? "" : " and ", label(origins[static_cast<std::size_t>(i)]));
  throw unexpected(
      {.item = "--from"}, Rule::out_of_range,
      text_of(axis.times.empty() ? "a row" : "a time", " of ", where, " with a row right before it, from ",
              label(origins.front()), " to ", label(origins.back())),
      quote(options.from), text_of("The nearest: ", nearest, "."));
}

std::int64_t first_row(const Panel& panel, const SeriesForecastOptions& options) {
  const std::int64_t end = panel.series.front().origin();
  if (options.from.empty()) return end;
  const std::vector<ForecastOrigin> origins = origins_of(panel);
  if (const auto before = rows_before_end(panel.axis, options.from)) {
    const std::int64_t row = std::max(-end, *before) + end;
    const auto next = std::ranges::lower_bound(origins, row, {}, &ForecastOrigin::row);
    if (next == origins.end() || next->row > row)
      refuse_first(origins, next - origins.begin(), panel.axis, options);
    return row;
  }
  const auto [from, is_whole] = time_of_first(panel.axis, options);
  const auto next = std::ranges::lower_bound(origins, from, {}, &ForecastOrigin::time);
  if (next == origins.end() || next->time > from || !is_whole)
    refuse_first(origins, next - origins.begin(), panel.axis, options);
  return next->row;
}

ForecastStart start_of(const Panel& panel, const SeriesForecastOptions& options) {
  ForecastStart start{.first = first_row(panel, options)};
  for (const RowRange& segment : panel.segments)
    if (segment.first < start.first) start.segment = segment;
  if (start.segment.end() < start.first)
    throw InputError({options.input.string()}, Rule::missing,
                     "the rows before the first prediction have no numbers.");
  return start;
}

/// Says which input a step lacks, of which row, and how it could be known.
[[noreturn]] void refuse_unknown(const Panel& panel, const ForecastStart& start, const ForecastInputs& given,
                                 std::int64_t place, const SeriesForecastOptions& options) {
  const std::int64_t width = std::ssize(panel.input), input = place % width;
  const std::int64_t row = panel.input_at(input).row(start.first - given.known + place / width);
  const Column& column = panel.input_column(input);
  const std::int64_t later = row - start.first + 1;
  const std::string when = panel.axis.times.empty()
                               ? text_of("row ", row)
                               : label_of(panel.axis, panel.time_of(row, start.segment.end()));
  const std::string file = (options.future.empty() ? options.input : options.future).string();
  const std::string from =
      text_of(" from ", when, " on, ", later, later == 1 ? " step" : " steps", " after the past. ");
  if (column.role == ColumnRole::future)
    throw InputError({file}, Rule::missing,
                     text_of(column.name, R"( is a "future" input and is not known)", from,
                             "Add rows with it in which the targets are empty, give them as --future FILE, "
                             "or train with it as \"past\" or as a target."));
  const std::int64_t steps = later + given.horizon - 1;
  throw InputError(
      {file}, Rule::missing,
      text_of(
          column.name, " is an input that the model does not predict, and it is not known", from,
          "Forecast at most ", steps, steps == 1 ? " step" : " steps",
          ", or add rows with it in which the targets are empty. An input that is known ahead is \"future\" "
          "in the experiment (then also --future FILE), one to be predicted a target."));
}

ForecastInputs inputs_of(const Panel& panel, const ForecastStart& start, const SeriesOptions& series,
                         const LossFunction& loss, std::int64_t steps, const SeriesForecastOptions& options) {
  ForecastInputs given = forecast_inputs(panel, start, steps, series, loss);
  const std::int64_t width = std::ssize(panel.input);
  const std::int64_t read = (given.inputs.size(0) - series.horizon) * width;
  for (std::int64_t i = 0; i < read; ++i)
    if (std::isnan(given.inputs.at(i)) && !given.is_fed(i % width))
      refuse_unknown(panel, start, given, i, options);
  return given;
}

/// The forecast without its predictions.
SeriesForecast empty_forecast(const Panel& panel, const ForecastStart& start, const SeriesOptions& series,
                              std::int64_t steps, std::int64_t season) {
  SeriesForecast forecast;
  const KnownNumbers known(panel, start);
  const std::int64_t width = std::ssize(panel.target), end = start.segment.end();
  name_targets(panel, forecast);
  forecast.truth = Tensor({steps, width}, Dtype::f64);
  forecast.past = Tensor({start.known(), width}, Dtype::f64);
  std::vector<std::int64_t> numbers;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t row = start.first + step;
    numbers.push_back(step + 1);
    if (!panel.axis.times.empty()) {
      const Instant time = panel.time_of(row, end);
      forecast.times.push_back(time);
      forecast.labels.push_back(label_of(panel.axis, time));
    }
    for (std::int64_t i = 0; i < width; ++i)
      forecast.truth.set(step * width + i, row < end ? panel.target_column(i).measured(row) : kNotKnown);
  }
  forecast.leading = {{"step", std::move(numbers)}};
  if (!panel.axis.times.empty())
    forecast.past_times.assign(panel.axis.times.begin() + start.segment.first,
                               panel.axis.times.begin() + start.first);
  for (std::int64_t i = 0; i < forecast.past.numel(); ++i)
    forecast.past.set(
        i, known.at(panel.target[static_cast<std::size_t>(i % width)], start.segment.first + i / width));
  forecast.window = series.window;
  forecast.season = season_of(panel.axis, season);
  forecast.read_later = read_later(panel, series, steps);
  const std::vector<SeriesGrid>& grids = panel.axis.grids;
  if (!grids.empty() && !grids.front().is_even && series.frequency != "any")
    forecast.usual_step = seconds_of(grids.front().grid.frequency().count);
  return forecast;
}

/// Throws InputError for more steps or paths than half of the memory can hold.
void check_memory(const Model& model, std::int64_t count, std::int64_t most_paths, std::int64_t series) {
  constexpr double kLabelBytes = 100;  // of a step: its time, as a number and as text
  const auto steps = static_cast<double>(count), all = static_cast<double>(series) * steps;
  const auto width = static_cast<double>(model.input_width() + model.output_width());
  const double paths = model.loss().has_levels() ? static_cast<double>(most_paths) : 0;
  const double bytes =
      all * (kLabelBytes + 2 * sizeof(double) * width) + sizeof(double) * (2 * steps * width * paths + paths);
  if (bytes <= static_cast<double>(system_memory()) / 2) return;
  const std::string on_paths = paths > 0 ? text_of(" on ", most_paths, " paths") : "";
  throw InputError(
      {.op = "forecast"}, Rule::no_memory,
      text_of(count, " steps", series > 1 ? text_of(" of ", series, " series") : "", on_paths, " take about ",
              bytes_of(static_cast<std::int64_t>(std::min(bytes, 9e18))), ", more than half of the memory"),
      {}, "Give fewer.");
}

/// The numbers of the series that are asked for.
std::vector<std::int64_t> chosen_series(const Panel& panel, const SeriesForecastOptions& options) {
  std::vector<std::string> names;
  for (const PanelSeries& series : panel.series) names.push_back(series.name());
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < options.series.size(); ++i) {
    const std::string& name = options.series[i];
    auto found = std::ranges::find(names, name);
    // Commas between names may be those of a name.
    std::string longer = name;
    for (std::size_t j = i + 1; found == names.end() && j < options.series.size(); ++j) {
      longer += "," + options.series[j];
      found = std::ranges::find(names, longer);
      if (found != names.end()) i = j;
    }
    if (found == names.end())
      throw InputError(unknown_name(text_of("series of ", options.input.string()), name, names)
                           .within({.item = "--series"}));
    chosen.push_back(found - names.begin());
  }
  for (std::int64_t i = 0; options.series.empty() && i < std::ssize(names); ++i) chosen.push_back(i);
  return chosen;
}

/// The forecast of the one series of a panel, without intervals.
SeriesForecast forecast_one(std::span<const ForecastModel> models, const Panel& panel,
                            const SeriesOptions& series, std::int64_t steps,
                            const SeriesForecastOptions& options) {
  const ForecastStart start = start_of(panel, options);
  const KnownNumbers numbers(panel, start);
  if (const std::int64_t column = numbers.without_number(); column >= 0)
    throw InputError({options.input.string()}, Rule::missing,
                     text_of(panel.column(column).name, " has no number before the first prediction."));
  const Model& first = models.front().model();
  const LossFunction& loss = first.loss();
  const ForecastInputs inputs = inputs_of(panel, start, series, loss, steps, options);
  SeriesForecast forecast = empty_forecast(panel, start, series, steps, options.season);
  forecast.ids = id_columns(panel.series_columns, panel.series.front().id, steps);
  forecast.first = start.first;
  if (!panel.series_columns.empty()) forecast.name = panel.series.front().name();
  if (first.output_width() != std::ssize(forecast.targets) * loss.outputs_of_target())
    throw unexpected({.op = "forecast"}, Rule::shape,
                     text_of("a model of ", forecast.targets.size(), " targets"),
                     text_of("one of ", first.output_width(), " outputs"));
  put_forecast(forecast, models, inputs, options.paths);
  return forecast;
}

/// Adds intervals to the forecasts of some of the series of a panel.
void add_intervals(std::span<const Model> models, const Panel& panel, const SeriesOptions& series,
                   const std::vector<std::int64_t>& chosen, const SeriesForecastOptions& options,
                   std::vector<SeriesForecast>& forecasts) {
  std::vector<std::int64_t> firsts;
  for (const PanelSeries& one : panel.series) firsts.push_back(one.origin());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto which = static_cast<std::size_t>(chosen[i]);
    firsts[which] = panel.series[which].first + forecasts[i].first;
  }
  const std::int64_t steps = forecasts.front().steps();
  const std::vector<ForecastStart> starts =
      rolling_origins(panel, rows_after_training(series, panel, firsts),
                      rows_before(models.front(), series, panel, 0), steps, kMostCalibrations);
  const ConformalIntervals intervals(models, panel, series, starts, steps, *options.interval, options.paths);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    intervals.add_to(forecasts[i], firsts[static_cast<std::size_t>(chosen[i])]);
    forecasts[i].compared = intervals.forecasts();
  }
}

}  // namespace

std::vector<SeriesForecast> forecast_series(std::span<const Model> models,
                                            const SeriesForecastOptions& options) {
  const PlainArithmetic plain;
  if (models.empty()) throw unexpected({.op = "forecast"}, Rule::missing, "a model");
  SeriesOptions series = series_options_of(models.front());
  series.paths = {options.input.string()};
  if (!options.frequency.empty()) series.frequency = options.frequency;
  const Panel panel = panel_for(models.front(), series, {.allow_future = true, .future = options.future});
  const std::int64_t steps = options.steps.in_steps(panel);
  if (steps < 1)
    throw unexpected({.op = "forecast"}, Rule::out_of_range, "at least one step", text_of(steps));
  const std::vector<std::int64_t> chosen = chosen_series(panel, options);
  check_memory(models.front(), steps, options.paths.paths, std::ssize(chosen));
  const std::vector<ForecastModel> ready(models.begin(), models.end());
  std::vector<SeriesForecast> forecasts;
  if (panel.series.size() == 1) {
    forecasts.push_back(forecast_one(ready, panel, series, steps, options));
  } else {
    for (const std::int64_t which : chosen) try {
        forecasts.push_back(forecast_one(ready, panel.only(which), series, steps, options));
      } catch (const InputError& error) {
        const std::string name = panel.series[static_cast<std::size_t>(which)].name();
        throw error.with_hint(
            text_of("This is about the series ", quote(name, 40), "; --series forecasts others alone."));
      }
  }
  forecasts.front().notes = panel.future_notes;
  if (options.interval) add_intervals(models, panel, series, chosen, options, forecasts);
  return forecasts;
}

}  // namespace lagtape
