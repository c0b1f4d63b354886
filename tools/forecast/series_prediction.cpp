#include "lagtape/tools/forecast/series_prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/data/series/series_scaling.h"
#include "lagtape/tools/chart/row_axis.h"
#include "lagtape/tools/forecast/recording_model.h"

namespace lagtape {

namespace {

/// The steps from that of row `first` to the end of a segment, before the first of which an input is not known.
std::int64_t known_steps(const Panel& panel, std::int64_t first, const RowRange& segment) {
  for (std::int64_t n = 0; first + n < segment.end(); ++n)
    for (std::int64_t i = 0; i < std::ssize(panel.input); ++i)
      if (std::isnan(input_of_step(panel, i, first + n, segment))) return n;
  return segment.end() - first;
}

/// The inputs of `count` windows of so many steps, each a step after the one before: [count, steps, input].
Tensor windows_of(const Panel& panel, const RowRange& segment, std::int64_t first, std::int64_t count,
                  std::int64_t steps) {
  const std::int64_t width = std::ssize(panel.input);
  Tensor x({count, steps, width}, Dtype::f64);
  for (std::int64_t at = 0; at < x.numel(); ++at) {
    const std::int64_t step = at / width;
    x.set(at, input_of_step(panel, at % width, first + step / steps + step % steps, segment));
  }
  return x;
}

/// Calls take(outputs [rows, q], first row) for the rows that are predicted from those of a segment.
template <class Take>
void predict_segment(const Model& model, const Panel& panel, const SeriesOptions& series,
                     const RowRange& segment, const Normalization& normalization, int threads, Take take) {
  constexpr std::int64_t kMost = 256;  // windows at a time
  const std::int64_t first = segment.first + panel.lead(), known = known_steps(panel, first, segment);
  if (reads_every_step(model.at())) {
    if (known <= 0) return;
    const Tensor x = windows_of(panel, segment, first, 1, known);
    return take(model.predict(x.reshaped({known, x.size(-1)}), normalization, threads),
                first + series.horizon);
  }
  const std::int64_t windows = known - series.window + 1;
  for (std::int64_t begin = 0; begin < windows; begin += kMost) {
    const Tensor x =
        windows_of(panel, segment, first + begin, std::min(kMost, windows - begin), series.window);
    take(model.predict(x, normalization, threads), first + begin + series.window - 1 + series.horizon);
  }
}

/// The measured targets of the rows that are predicted.
Tensor truth_of(const Panel& panel, const std::vector<std::int64_t>& places) {
  const std::int64_t width = std::ssize(panel.target);
  Tensor truth({std::ssize(places), width}, Dtype::f64);
  for (std::int64_t i = 0; i < truth.numel(); ++i) {
    const std::int64_t row = places[static_cast<std::size_t>(i / width)];
    truth.set(i, row < panel.rows ? panel.target_column(i % width).measured(row) : kNotKnown);
  }
  return truth;
}

/// Predicts the rows of the one series of a panel.
SeriesPrediction predict_one(const Model& model, const Panel& panel, const SeriesOptions& series,
                             int threads) {
  SeriesPrediction prediction;
  prediction.horizon = series.horizon;
  const PanelSeries& one = panel.series.front();
  const RowRange scaling = scaling_rows(one, series);
  const Normalization normalization = normalization_for(model, series, panel, one, scaling);
  // A new series is predicted from rows that are not before those that scale it.
  const bool is_new = !model.series().empty() && !model.series().contains(one.name());
  const std::int64_t earliest = is_new ? scaling.end() - 1 + series.horizon : 0;
  std::vector<double> numbers;
  for (const RowRange& segment : panel.segments) {
    const bool is_last =
        segment.end() == panel.segments.back().end();  // rows behind the file are predicted too
    const auto take = [&](const Tensor& outputs, std::int64_t first) {
      const std::int64_t width = outputs.size(-1);
      for (std::int64_t n = 0; n < outputs.size(0) && (first + n < segment.end() || is_last); ++n) {
        if (first + n < earliest) continue;
        prediction.places.push_back(first + n);
        if (!panel.axis.times.empty()) {
          const Instant time = panel.time_of(first + n, segment.end());
          prediction.times.push_back(time);
          prediction.labels.push_back(label_of(panel.axis, time));
        }
        for (std::int64_t i = 0; i < width; ++i) numbers.push_back(outputs.at(n * width + i));
      }
    };
    predict_segment(model, panel, series, segment, normalization, threads, take);
  }
  name_targets(panel, prediction);
  const std::int64_t rows = std::ssize(prediction.places);
  if (rows == 0) return prediction;
  const Tensor outputs = Tensor::from({rows, model.output_width()}, numbers, model.dtype());
  put_outputs(prediction, std::span(&outputs, 1), model.loss());
  prediction.ids = id_columns(panel.series_columns, one.id, rows);
  if (prediction.times.empty()) prediction.leading.push_back({"row", prediction.places});
  prediction.leading.push_back(
      {"horizon", std::vector<std::int64_t>(prediction.places.size(), prediction.horizon)});
  prediction.truth = truth_of(panel, prediction.places);
  prediction.last_rows = rows;
  if (!panel.series_columns.empty()) prediction.last = one.name();
  return prediction;
}

}  // namespace

SeriesPrediction predict_series(const Model& model, const std::filesystem::path& input, int threads,
                                const std::string& frequency) {
  const PlainArithmetic plain;
  SeriesOptions series = series_options_of(model);
  series.paths = {input.string()};
  if (!frequency.empty()) series.frequency = frequency;
  const Panel panel = panel_for(model, series, {.allow_future = true});
  std::vector<SeriesPrediction> predictions;
  for (std::int64_t i = 0; i < std::ssize(panel.series); ++i) {
    predictions.push_back(
        predict_one(model, panel.series.size() == 1 ? panel : panel.only(i), series, threads));
    if (predictions.back().places.empty()) predictions.pop_back();
  }
  if (predictions.empty())
    throw InputError(
        {series.where()}, Rule::missing,
        text_of("no part without a gap has the ", reads_every_step(model.at()) ? 1 : series.window,
                " rows that a prediction needs."));
  if (predictions.size() == 1) return std::move(predictions.front());
  std::vector<const PredictedTargets*> parts;
  for (const SeriesPrediction& one : predictions) parts.push_back(&one);
  SeriesPrediction all{joined(parts), {}};
  for (const SeriesPrediction& one : predictions)
    all.places.insert(all.places.end(), one.places.begin(), one.places.end());
  all.horizon = series.horizon;
  all.series = std::ssize(predictions);
  all.last_rows = predictions.back().rows();
  all.last = predictions.back().last;
  return all;
}

Plot plot_of(const SeriesPrediction& prediction, const std::string& title) {
  constexpr std::int64_t kMost = 600;
  const std::string which =
      prediction.series > 1 ? text_of(", ", prediction.last, ", the last of ", prediction.series, " series")
                            : std::string();
  const auto shown = static_cast<std::size_t>(std::min(prediction.last_rows, kMost));
  const std::span<const std::int64_t> places = std::span(prediction.places).last(shown);
  RowAxis rows{{.title = "row"}, {places.begin(), places.end()}};
  if (!prediction.times.empty())
    rows = axis_of_times(std::span(prediction.times).last(shown), prediction.clock);
  Plot plot{.title = title + which,
            .x = rows.axis,
            .y = {.title = axis_title(quantities_of(prediction), "target")}};
  for (std::int64_t i = 0; i < std::ssize(prediction.targets); ++i) {
    plot.lines.push_back(
        line_of_column(legend_of(prediction, i) + "truth", prediction.truth, i, rows.places));
    plot.lines.back().broad = true;
    add_prediction(plot, prediction, i, rows.places);
  }
  std::vector<std::size_t> gaps;
  for (std::size_t row = 1; row < places.size(); ++row)
    if (places[row] != places[row - 1] + 1) gaps.push_back(row);
  break_before(plot, gaps);
  return plot;
}

}  // namespace lagtape
