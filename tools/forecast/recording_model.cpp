#include "lagtape/tools/forecast/recording_model.h"

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_pointer.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/series/series_scaling.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/tools/forecast/sequence_prediction.h"
#include "lagtape/tools/train/losses.h"
#include "lagtape/tools/train/provenance.h"

namespace lagtape {

SeriesOptions series_options_of(const Model& model) {
  const Json data = data_of(model);
  if (data.value("task", "") != "series")
    throw unexpected({.op = "forecast"}, Rule::not_supported,
                     "a model that was trained on a recording, the task \"series\"");
  JsonErrors errors;
  JsonReader reader(data, "/data", errors);
  reader.raw("task", "");
  TaskHints hints;
  hints.every_step = reads_every_step(model.at());
  hints.counts = model.loss() == Loss::negative_binomial;
  SeriesOptions options = read_series_options(reader, hints);
  errors.raise("[forecast] the model's experiment");
  return options;
}

std::vector<std::string> input_names_of(const Model& model) {
  const std::string task = data_of(model).value("task", "");
  if (task != "series" && task != "sequences") return {};
  std::vector<std::string> names =
      task == "series" ? series_options_of(model).input_names() : sequence_options_of(model).input_names();
  if (std::ssize(names) != model.input_width()) names.clear();
  return names;
}

std::vector<std::string> class_outputs_of(const Model& model) {
  const Json data = data_of(model);
  const Json& classes = value_at(data, "/classes");
  std::vector<std::string> names;
  if (model.loss() != Loss::cross_entropy && model.loss() != Loss::binary_cross_entropy) return names;
  if (!classes.is_array()) return names;
  for (const Json& name : classes) names.push_back(text_of("logit of ", name.get<std::string>()));
  if (model.output_width() == 1 && names.size() == 2) names.erase(names.begin());
  if (std::ssize(names) != model.output_width()) names.clear();
  return names;
}

Panel panel_for(const Model& model, const SeriesOptions& options, const PanelReading& reading) {
  Panel panel = read_panel(options, std::filesystem::path(), reading);
  if (!panel.axis.times.empty() && panel.axis.grids.empty())
    throw InputError({options.where()}, Rule::shape,
                     "has one row. Two are needed, whose times tell the distance of rows.");
  if (std::ssize(panel.input) != model.input_width())
    throw InputError({options.where()}, Rule::shape,
                     text_of("the model takes ", model.input_width(), " inputs per step. The recording has ",
                             panel.input.size(), "."));
  if (model.dtype() == Dtype::f64) return panel;
  for (std::int64_t row = 0; row < panel.rows; ++row)
    for (const PanelInput& input : panel.input) {
      const Column& column = panel.column(input.column);
      const double number = column.at(row);
      if (std::isnan(number) || std::isfinite(static_cast<float>(number))) continue;
      const TimeAxis& axis = panel.axis;
      const std::string place = axis.times.empty()
                                    ? text_of("row ", row)
                                    : label_of(axis, axis.times[static_cast<std::size_t>(row)]);
      throw InputError({options.where()}, Rule::not_finite,
                       text_of(place, ": ", column.name, " is ", number, ", which is not finite in f32."));
    }
  return panel;
}

double input_of_step(const Panel& panel, std::int64_t input, std::int64_t row, const RowRange& segment) {
  const Column& column = panel.input_column(input);
  const std::int64_t read = panel.input_at(input).row(row);
  if (read < segment.first) return kNotKnown;
  if (read < segment.end()) return column.at(read);
  if (column.at_time) return column.at_time(panel.axis.clock_of(panel.time_of(read, segment.end())));
  return column.role == ColumnRole::fixed ? column.at(segment.first) : kNotKnown;
}

Normalization normalization_for(const Model& model, const SeriesOptions& options, const Panel& panel,
                                const PanelSeries& series, const RowRange& known) {
  if (model.series().empty()) return model.normalization();
  if (const auto found = model.series().find(series.name()); found != model.series().end())
    return found->second;
  const Normalization all = normalization_of_data(model.series().begin()->second, model.loss());
  return normalization_of_model(normalization_of_series(options, panel, std::span(&known, 1), all),
                                model.loss());
}

std::vector<Feedback> feedback_of(const Panel& panel, const LossFunction& loss) {
  std::vector<Feedback> feedback;
  for (std::size_t i = 0; i < panel.input.size(); ++i)
    for (std::size_t k = 0; k < panel.target.size(); ++k)
      if (panel.input[i].column == panel.target[k])
        feedback.push_back({.input = static_cast<std::int64_t>(i),
                            .output = static_cast<std::int64_t>(k) * loss.outputs_of_target() + loss.middle(),
                            .shift = panel.input[i].shift});
  return feedback;
}

KnownNumbers::KnownNumbers(const Panel& panel, const ForecastStart& start) : panel_(panel), start_(start) {
  for (const Column& column : panel.columns) {
    std::int64_t last = start.first - 1;
    if (column.role != ColumnRole::future && column.role != ColumnRole::fixed)
      while (last >= start.segment.first && column.is_filled(last)) --last;
    last_.push_back(last);
  }
}

double KnownNumbers::at(std::int64_t column, std::int64_t row) const {
  const std::int64_t last = last_[static_cast<std::size_t>(column)];
  return panel_.column(column).at(row < start_.first ? std::min(row, last) : row);
}

std::int64_t KnownNumbers::without_number() const {
  const auto found =
      std::ranges::find_if(last_, [&](std::int64_t last) { return last < start_.segment.first; });
  return found == last_.end() ? -1 : found - last_.begin();
}

ForecastInputs forecast_inputs(const Panel& panel, const ForecastStart& start, std::int64_t steps,
                               const SeriesOptions& series, const LossFunction& loss) {
  const std::int64_t width = std::ssize(panel.input), begin = start.segment.first + panel.lead();
  ForecastInputs given{.inputs = Tensor({start.first - begin + steps, width}, Dtype::f64),
                       .known = start.first - begin,
                       .horizon = series.horizon,
                       .window = series.window,
                       .feedback = feedback_of(panel, loss)};
  const PanelSeries& one = panel.series[static_cast<std::size_t>(panel.series_of(start.first - 1))];
  given.normalization = [&panel, &series, &one, known = start.first - one.first](const Model& model) {
    return normalization_for(model, series, panel, one, {one.first, known});
  };
  const KnownNumbers numbers(panel, start);
  for (std::int64_t i = 0; i < width; ++i) {
    const std::int64_t mask_of = panel.input_column(i).masks;
    const bool is_of_fed = std::ranges::any_of(
        given.feedback, [&](const Feedback& fed) { return panel.input_at(fed.input).column == mask_of; });
    for (std::int64_t n = 0; n < given.inputs.size(0); ++n) {
      const PanelInput& input = panel.input_at(i);
      const bool is_before = input.row(begin + n) < start.first;
      given.inputs.set(n * width + i, is_before   ? numbers.at(input.column, input.row(begin + n))
                                      : is_of_fed ? 1
                                                  : input_of_step(panel, i, begin + n, start.segment));
    }
  }
  return given;
}

std::vector<std::string> read_later(const Panel& panel, const SeriesOptions& series, std::int64_t steps) {
  std::vector<std::string> names;
  if (steps <= series.horizon || series.horizon == 0)
    return names;  // a nowcast predicts the row that it reads
  for (const PanelInput& input : panel.input) {
    const Column& column = panel.column(input.column);
    if (column.role == ColumnRole::past && column.kind != ColumnKind::mask) names.push_back(column.name);
  }
  return names;
}

void name_targets(const Panel& panel, PredictedTargets& predicted) {
  for (const std::int64_t target : panel.target) {
    predicted.targets.push_back(panel.column(target).name);
    predicted.units.push_back(panel.column(target).unit);
  }
  if (panel.axis.are_dates()) predicted.clock = panel.axis.zone;
}

std::string label_of(const TimeAxis& axis, Instant time) {
  if (axis.format.count()) return axis.format.write(time, axis.zone);
  if (axis.are_days) return TimeFormat("%Y-%m-%d").write(time, axis.zone);
  const std::int64_t fraction = floor_mod(time, kOneSecond);
  const std::string pattern = text_of("%Y-%m-%dT%H:%M:%S", fraction == 0               ? ""
                                                           : fraction % 1'000'000 == 0 ? ".%3f"
                                                           : fraction % 1'000 == 0     ? ".%6f"
                                                                                       : ".%9f");
  const bool has_offset = axis.format.is_absolute() || !axis.zone.is_utc();
  const std::int64_t offset = axis.zone.offset_at(time);
  return TimeFormat(pattern).write(time, axis.zone) + (!has_offset   ? ""
                                                       : offset == 0 ? "Z"
                                                                     : offset_text(offset / kOneSecond));
}

}  // namespace lagtape
