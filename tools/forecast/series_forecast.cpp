#include "lagtape/tools/forecast/series_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/core/byte_size.h"
#include "lagtape/core/error.h"
#include "lagtape/core/system_memory.h"
#include "lagtape/data/series/calendar.h"
#include "lagtape/data/series/time_stamp.h"
#include "lagtape/tools/forecast/recording_model.h"

namespace lagtape {

namespace {

/// The inputs of a forecast, made from a recording.
class ForecastSetup {
 public:
  ForecastSetup(const Model& model, const SeriesForecastOptions& options)
      : options_(options), series_(series_options_of(model)) {
    series_.paths = {options.input.string()};
    recordings_ = recordings_for(model, series_, true);
    if (recordings_.recordings.size() != 1)
      throw InputError(text_of(where(), ": a forecast goes on from one recording. Got ",
                               recordings_.recordings.size(), "."));
    find_first();
    find_past();
    hold_last_numbers();
    inputs_.feedback = feedback_of(recordings_, model.loss());
    inputs_.horizon = series_.horizon;
    inputs_.window = series_.window;
    inputs_.known = first_ - past_.first;
    fill_inputs();
  }

  const ForecastInputs& inputs() const { return inputs_; }

  /// Whether a prediction is an input of another one.
  bool reads_predictions() const { return !inputs_.feedback.empty() && options_.steps > inputs_.horizon; }

  /// The forecast without its predictions.
  SeriesForecast empty_forecast() const {
    SeriesForecast forecast;
    const std::int64_t width = std::ssize(recordings_.target);
    for (const std::int64_t column : recordings_.target) forecast.targets.push_back(name_of(column));
    forecast.truth = Tensor({options_.steps, width}, Dtype::f64);
    forecast.past = Tensor({inputs_.known, width}, Dtype::f64);
    for (std::int64_t step = 0; step < options_.steps; ++step) {
      if (!recordings_.times.empty()) {
        forecast.times.push_back(time_at(first_ + step));
        forecast.labels.push_back(label_of(recordings_, forecast.times.back()));
      }
      for (std::int64_t i = 0; i < width; ++i) forecast.truth.set(step * width + i, truth(first_ + step, i));
    }
    for (std::int64_t i = 0; i < forecast.past.numel(); ++i)
      forecast.past.set(
          i, value(past_.first + i / width, recordings_.measured[static_cast<std::size_t>(i % width)]));
    forecast.window = series_.window;
    forecast.season = season_of(recordings_, options_.season);
    return forecast;
  }

 private:
  std::string where() const { return options_.input.string(); }
  std::int64_t rows() const { return recordings_.values.size(0); }
  double value(std::int64_t row, std::int64_t column) const {
    return recordings_.values.at(row * recordings_.values.size(1) + column);
  }
  double truth(std::int64_t row, std::int64_t target) const {
    return row < end_ ? recordings_.truth(row, target) : kNotKnown;
  }
  std::string name_of(std::int64_t column) const { return name_of_column(recordings_, column); }

  /// The time of a row, also of one behind the last.
  double time_at(std::int64_t row) const { return time_of_row(recordings_, row, end_); }

  /// A row at which a forecast can begin, as there is a row right before it, and its time; without times its number.
  struct Beginning {
    double time;
    std::int64_t row;
  };

  std::vector<Beginning> beginnings() const {
    std::vector<Beginning> found;
    for (const Stretch& stretch : recordings_.stretches) {
      const std::int64_t end = stretch.first + stretch.rows;
      for (std::int64_t row = stretch.first + 1; row <= std::min(end, first_); ++row)
        found.push_back(
            {recordings_.times.empty() ? static_cast<double>(row) : time_of_row(recordings_, row, end), row});
    }
    return found;
  }

  std::string label(const Beginning& beginning) const {
    return recordings_.times.empty() ? text_of(beginning.row) : label_of(recordings_, beginning.time);
  }

  /// The time that was asked for. Without an offset it is by the clock of the file, if that has one.
  double time_of_first() const {
    const std::optional<TimeStamp> from = parse_time_stamp(options_.from);
    if (!from)
      throw InputError(
          text_of("--from ", options_.from, ": expected a date such as 2024-01-31 13:00, or a row."));
    if (!from->is_date || from->offset || !recordings_.has_offsets) return from->seconds;
    if (!recordings_.offset)
      throw InputError(text_of("--from ", options_.from, ": the times of ", where(),
                               " have several offsets from UTC: expected one here too, as in ", options_.from,
                               "Z."));
    return from->seconds - *recordings_.offset;
  }

  void find_first() {
    first_ = rows() - recordings_.future;
    if (options_.from.empty()) return;
    const double from = time_of_first();
    const std::vector<Beginning> known = beginnings();
    const double tolerance = 1e-6 * recordings_.interval;  // the time after the last row is a rounded sum
    const auto next = std::ranges::lower_bound(known, from - tolerance, {}, &Beginning::time);
    if (next == known.end() || next->time > from + tolerance) refuse_first(known, next - known.begin());
    first_ = next->row;
  }

  /// Says which of the beginnings are nearest to a time that is between number `next` and the one before it.
  [[noreturn]] void refuse_first(const std::vector<Beginning>& known, std::int64_t next) const {
    const bool has_times = !recordings_.times.empty();
    if (known.empty()) throw InputError(text_of(where(), ": has no row with targets to go on from."));
    std::string nearest;
    for (std::int64_t i = std::max<std::int64_t>(next - 1, 0); i <= next && i < std::ssize(known); ++i)
      nearest += text_of(nearest.empty() ? "" : " and ", label(known[static_cast<std::size_t>(i)]));
    throw InputError(text_of("--from ", options_.from, ": expected ", has_times ? "a time" : "a row", " of ",
                             where(), " with a row right before it, from ", label(known.front()), " to ",
                             label(known.back()), ". The nearest: ", nearest, "."));
  }

  /// Finds the rows without a gap that end before the first prediction, and where rows after it end.
  void find_past() {
    for (const Stretch& stretch : recordings_.stretches)
      if (stretch.first < first_) past_ = stretch;
    end_ = past_.first + past_.rows;
    if (end_ < first_)
      throw InputError(text_of(where(), ": the rows before the first prediction have no numbers."));
  }

  /// Takes the last measured number for those that are missing right before the first prediction: a line to a later one
  /// would tell what is to be forecast.
  void hold_last_numbers() {
    const std::int64_t targets = std::ssize(recordings_.target);
    if (recordings_.is_filled.empty()) return;
    for (std::int64_t i = 0; i < targets; ++i) {
      const std::int64_t column = recordings_.measured[static_cast<std::size_t>(i)];
      std::int64_t last = first_ - 1;
      while (last >= past_.first && recordings_.is_filled[static_cast<std::size_t>(last * targets + i)])
        --last;
      if (last < past_.first)
        throw InputError(
            text_of(where(), ": ", name_of(column), " has no number before the first prediction."));
      for (std::int64_t row = last + 1; row < first_; ++row)
        recordings_.values.set(row * recordings_.values.size(1) + column, value(last, column));
    }
  }

  void fill_inputs() {
    const std::int64_t width = std::ssize(recordings_.input), total = inputs_.known + options_.steps;
    const std::int64_t calendar = std::ssize(recordings_.is_scaled) - 2 * std::ssize(series_.calendar);
    inputs_.inputs = Tensor({total, width}, Dtype::f64);
    for (std::int64_t n = 0; n < total; ++n) {
      const std::int64_t row = past_.first + n;
      for (std::int64_t i = 0; i < width; ++i) {
        const std::int64_t column = recordings_.input[static_cast<std::size_t>(i)];
        double number = row < end_ ? value(row, column) : kNotKnown;
        if (row >= end_ && column >= calendar) number = calendar_value(column - calendar, time_at(row));
        if (n >= inputs_.known && recordings_.is_mask[static_cast<std::size_t>(i)] &&
            inputs_.is_fed(recordings_.masked_by(i)))
          number = 1;  // a prediction is always there
        const bool is_read = n < total - series_.horizon;
        if (is_read && std::isnan(number) && !inputs_.is_fed(i)) refuse_unknown(column, n - inputs_.known);
        inputs_.inputs.set(n * width + i, number);
      }
    }
  }

  double calendar_value(std::int64_t place, double time) const {
    double angle[2];
    write_calendar(calendar_input(series_.calendar[static_cast<std::size_t>(place / 2)]), time, angle);
    return angle[place % 2];
  }

  [[noreturn]] void refuse_unknown(std::int64_t column, std::int64_t step) const {
    throw InputError(text_of(
        where(), ": ", name_of(column), " is an input that the model does not predict, and it is not ",
        "known ", step + 1, step == 0 ? " step" : " steps",
        " after the past. Add rows with it in which the targets are ", "empty, or forecast at most ",
        step + series_.horizon, step + series_.horizon == 1 ? " step." : " steps."));
  }

  const SeriesForecastOptions& options_;
  SeriesOptions series_;
  Recordings recordings_;
  Stretch past_;
  std::int64_t first_ = 0;  ///< the row of the first prediction
  std::int64_t end_ = 0;    ///< the row at which the stretch of the past ends, which may be later
  ForecastInputs inputs_;
};

/// Throws InputError for more steps or paths than half of the memory can hold.
void check_memory(const Model& model, const SeriesForecastOptions& options) {
  constexpr double kLabelBytes = 100;  // of a step: its time, as a number and as text
  const auto steps = static_cast<double>(options.steps);
  const auto width = static_cast<double>(model.input_width() + model.output_width());
  const double paths = model.loss() == Loss::quantile ? static_cast<double>(options.paths) : 0;
  const double bytes = steps * kLabelBytes + sizeof(double) * (2 * steps * width * (1 + paths) + paths);
  if (bytes <= static_cast<double>(system_memory()) / 2) return;
  const std::string on_paths = paths > 0 ? text_of(" on ", options.paths, " paths") : "";
  throw InputError(text_of("[forecast] ", options.steps, " steps", on_paths, " take about ",
                           bytes_of(static_cast<std::int64_t>(std::min(bytes, 9e18))),
                           ", more than half of the memory. Give fewer."));
}

}  // namespace

SeriesForecast forecast_series(std::span<const Model> models, const SeriesForecastOptions& options) {
  if (models.empty() || options.steps < 1)
    throw InputError("[forecast] expected a model and at least one step.");
  check_memory(models.front(), options);
  const ForecastSetup setup(models.front(), options);
  SeriesForecast forecast = setup.empty_forecast();
  const LossFunction& loss = models.front().loss();
  const bool is_quantile = loss == Loss::quantile;
  const bool draws = is_quantile && options.paths > 0 && setup.reads_predictions();
  std::vector<Tensor> predictions;
  for (const Model& model : models) {
    if (model.output_width() != std::ssize(forecast.targets) * loss.outputs_of_target())
      throw InputError(text_of("[forecast] a model predicts ", model.output_width(),
                               " numbers, expected the ", forecast.targets.size(), " targets."));
    if ((model.loss() == Loss::quantile) != is_quantile ||
        (is_quantile && model.loss().options.levels != loss.options.levels))
      throw InputError("[forecast] the models of one forecast predict the same quantiles, or none.");
    predictions.push_back(
        draws ? draw_paths(model, setup.inputs(), options.paths, options.seed + predictions.size())
              : closed_loop(model, setup.inputs()));
  }
  if (draws) {
    put_paths(forecast, predictions, loss);
  } else {
    put_outputs(forecast, predictions, loss);
  }
  return forecast;
}

}  // namespace lagtape
