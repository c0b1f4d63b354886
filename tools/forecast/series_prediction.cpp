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
  SeriesPredictor(const Model& model, const std::filesystem::path& input, int threads,
                  const std::string& frequency)
      : model_(model), threads_(threads), series_(series_options_of(model)) {
    series_.paths = {input.string()};
    if (!frequency.empty()) series_.frequency = frequency;
    panel_ = panel_for(model, series_, {.allow_future = true});
  }

  SeriesPrediction run() {
    for (const RowRange& segment : panel_.segments) {
      segment_ = segment;
      const std::int64_t first = segment.first + panel_.lead(), known = known_steps(first);
      if (reads_every_step(model_.at())) {
        run_through(first, known);
      } else {
        read_windows(first, known);
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
  /// The steps from that of a row on before the first of which an input is not known.
  std::int64_t known_steps(std::int64_t first) const {
    for (std::int64_t n = 0; first + n < segment_.end(); ++n)
      for (std::int64_t i = 0; i < model_.input_width(); ++i)
        if (std::isnan(input_of_step(panel_, i, first + n, segment_))) return n;
    return segment_.end() - first;
  }

  /// The inputs of the steps first .. first + steps - 1, written from place `to` of x on.
  void copy_inputs(std::int64_t first, std::int64_t steps, Tensor& x, std::int64_t to) const {
    for (std::int64_t n = 0; n < steps; ++n)
      for (std::int64_t i = 0; i < model_.input_width(); ++i)
        x.set(to++, input_of_step(panel_, i, first + n, segment_));
  }

  /// Whether a row is predicted: it is in the segment, or behind the end of the file.
  bool is_wanted(std::int64_t row) const {
    return row < segment_.end() || segment_.end() == panel_.segments.back().end();
  }

  /// Takes the outputs [rows, q] for the rows from `first` on.
  void take(const Tensor& outputs, std::int64_t first) {
    const std::int64_t width = outputs.size(-1);
    for (std::int64_t n = 0; n < outputs.size(0) && is_wanted(first + n); ++n) {
      prediction_.places.push_back(first + n);
      if (!panel_.axis.times.empty()) {
        const Instant time = panel_.time_of(first + n, segment_.end());
        prediction_.times.push_back(seconds_of(time));
        prediction_.labels.push_back(label_of(panel_.axis, time));
      }
      for (std::int64_t i = 0; i < width; ++i) outputs_.push_back(outputs.at(n * width + i));
    }
  }

  void run_through(std::int64_t first, std::int64_t known) {
    if (known <= 0) return;
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
    const std::int64_t rows = std::ssize(prediction_.places), width = std::ssize(panel_.target);
    for (const std::int64_t column : panel_.target) prediction_.targets.push_back(panel_.column(column).name);
    Tensor outputs({rows, model_.output_width()}, model_.dtype());
    for (std::int64_t i = 0; i < outputs.numel(); ++i) outputs.set(i, outputs_[static_cast<std::size_t>(i)]);
    put_outputs(prediction_, std::span(&outputs, 1), model_.loss());
    prediction_.horizon = series_.horizon;
    prediction_.truth = Tensor({rows, width}, Dtype::f64);
    for (std::int64_t i = 0; i < rows * width; ++i) {
      const std::int64_t row = prediction_.places[static_cast<std::size_t>(i / width)];
      prediction_.truth.set(i, row < panel_.rows ? panel_.target_column(i % width).measured(row) : kNotKnown);
    }
    return std::move(prediction_);
  }

  const Model& model_;
  int threads_;
  SeriesOptions series_;
  Panel panel_;
  SeriesPrediction prediction_;
  std::vector<double> outputs_;
  RowRange segment_ = {};  ///< the present one
};

}  // namespace

SeriesPrediction predict_series(const Model& model, const std::filesystem::path& input, int threads,
                                const std::string& frequency) {
  return SeriesPredictor(model, input, threads, frequency).run();
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
