#include "lagtape/tools/forecast/series_prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lagtape/core/error.h"
#include "lagtape/tools/forecast/recording_model.h"

namespace lagtape {

namespace {

/// Predicts segment by segment, and collects outputs and rows.
class SeriesPredictor {
 public:
  SeriesPredictor(const Model& model, const std::filesystem::path& input, int threads)
      : model_(model), threads_(threads), series_(series_options_of(model)) {
    series_.paths = {input.string()};
    recordings_ = recordings_for(model, series_, true);
    if (std::ssize(recordings_.input) != model.input_width())
      throw InputError({series_.where()}, Rule::shape,
                       text_of("the model takes ", model.input_width(),
                               " inputs per step. The recording has ", recordings_.input.size(), "."));
  }

  SeriesPrediction run() {
    for (const RowRange& segment : recordings_.segments) {
      const std::int64_t known = known_rows(segment);
      end_ = segment.end();
      is_last_ = &segment == &recordings_.segments.back();
      if (reads_every_step(model_.at())) {
        run_through(segment.first, known);
      } else {
        read_windows(segment.first, known);
      }
    }
    if (prediction_.places.empty())
      throw InputError(
          {series_.where()}, Rule::missing,
          text_of("no stretch without a gap has the ", reads_every_step(model_.at()) ? 1 : series_.window,
                  " rows that a prediction needs."));
    return finish();
  }

 private:
  double value(std::int64_t row, std::int64_t column) const { return recordings_.column(column).at(row); }

  /// The rows of a segment before the first in which an input is not known.
  std::int64_t known_rows(const RowRange& segment) const {
    for (std::int64_t n = 0; n < segment.rows; ++n)
      for (const std::int64_t column : recordings_.input)
        if (std::isnan(value(segment.first + n, column))) return n;
    return segment.rows;
  }

  /// The inputs of rows first .. first + rows - 1, written from place `to` of x on.
  void copy_inputs(std::int64_t first, std::int64_t rows, Tensor& x, std::int64_t to) const {
    for (std::int64_t n = 0; n < rows; ++n)
      for (const std::int64_t column : recordings_.input) x.set(to++, value(first + n, column));
  }

  /// Whether a row is predicted: it is in the segment, or behind the end of the file.
  bool is_wanted(std::int64_t row) const { return row < end_ || is_last_; }

  /// Takes the outputs [rows, q] for the rows from `first` on.
  void take(const Tensor& outputs, std::int64_t first) {
    const std::int64_t width = outputs.size(-1);
    for (std::int64_t n = 0; n < outputs.size(0) && is_wanted(first + n); ++n) {
      prediction_.places.push_back(first + n);
      if (!recordings_.axis.times.empty()) {
        prediction_.times.push_back(time_of_row(recordings_.axis, first + n, end_));
        prediction_.labels.push_back(label_of(recordings_.axis, prediction_.times.back()));
      }
      for (std::int64_t i = 0; i < width; ++i) outputs_.push_back(outputs.at(n * width + i));
    }
  }

  void run_through(std::int64_t first, std::int64_t known) {
    if (known == 0) return;
    Tensor x({known, model_.input_width()}, Dtype::f64);
    copy_inputs(first, known, x, 0);
    take(model_.predict(x, threads_), first + series_.horizon);
  }

  void read_windows(std::int64_t first, std::int64_t known) {
    constexpr std::int64_t kMost = 256;
    const std::int64_t width = model_.input_width(), windows = known - series_.window + 1;
    for (std::int64_t begin = 0; begin < windows; begin += kMost) {
      const std::int64_t count = std::min(kMost, windows - begin);
      Tensor x({count, series_.window, width}, Dtype::f64);
      for (std::int64_t i = 0; i < count; ++i)
        copy_inputs(first + begin + i, series_.window, x, i * series_.window * width);
      take(model_.predict(x, threads_), first + begin + series_.window - 1 + series_.horizon);
    }
  }

  SeriesPrediction finish() {
    const std::int64_t rows = std::ssize(prediction_.places), width = std::ssize(recordings_.target);
    for (const std::int64_t column : recordings_.target)
      prediction_.targets.push_back(recordings_.column(column).name);
    Tensor outputs({rows, model_.output_width()}, model_.dtype());
    for (std::int64_t i = 0; i < outputs.numel(); ++i) outputs.set(i, outputs_[static_cast<std::size_t>(i)]);
    put_outputs(prediction_, std::span(&outputs, 1), model_.loss());
    prediction_.horizon = series_.horizon;
    prediction_.truth = Tensor({rows, width}, Dtype::f64);
    for (std::int64_t i = 0; i < rows * width; ++i) {
      const std::int64_t row = prediction_.places[static_cast<std::size_t>(i / width)];
      prediction_.truth.set(
          i, row < recordings_.rows ? recordings_.target_column(i % width).measured(row) : kNotKnown);
    }
    return std::move(prediction_);
  }

  const Model& model_;
  int threads_;
  SeriesOptions series_;
  Recordings recordings_;
  SeriesPrediction prediction_;
  std::vector<double> outputs_;
  std::int64_t end_ = 0;  ///< the row behind the present segment
  bool is_last_ = false;
};

}  // namespace

SeriesPrediction predict_series(const Model& model, const std::filesystem::path& input, int threads) {
  return SeriesPredictor(model, input, threads).run();
}

std::string csv_of(const SeriesPrediction& prediction) {
  std::vector<LeadingColumn> leading;
  if (prediction.labels.empty()) {
    leading.push_back({.name = "row", .cells = {}});
    for (const std::int64_t row : prediction.places) leading.back().cells.push_back(std::to_string(row));
  }
  leading.push_back(
      {.name = "horizon",
       .cells = std::vector<std::string>(prediction.places.size(), std::to_string(prediction.horizon))});
  return csv_of(prediction, leading);
}

Plot plot_of(const SeriesPrediction& prediction, const std::string& title) {
  constexpr std::int64_t kMost = 600;
  const std::int64_t from = std::max<std::int64_t>(prediction.rows() - kMost, 0);
  Plot plot{.title = title, .x = {.title = "row"}, .y = {.title = "target"}};
  if (prediction.targets.size() == 1) plot.y.title = prediction.targets.front();
  const std::int64_t first = prediction.places[static_cast<std::size_t>(from)];
  for (std::int64_t i = 0; i < std::ssize(prediction.targets); ++i) {
    plot.lines.push_back(
        line_of_column(prefix_of(prediction, i) + "truth", prediction.truth, i, from, first));
    plot.lines.back().broad = true;
    add_prediction(plot, prediction, i, from, first);
  }
  return plot;
}

}  // namespace lagtape
