#include "lagtape/tools/forecast/recording_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/data/time/time_format.h"
#include "lagtape/tools/train/provenance.h"

namespace lagtape {

SeriesOptions series_options_of(const Model& model) {
  const Json data = data_of(model);
  if (data.value("task", "") != "series")
    throw InputError({.op = "forecast"}, Rule::not_supported,
                     "expected a model that was trained on a recording, the task \"series\".");
  JsonErrors errors;
  JsonReader reader(data, "/data", errors);
  reader.raw("task", "");
  TaskHints hints;
  hints.every_step = reads_every_step(model.at());
  SeriesOptions options = read_series_options(reader, hints);
  errors.raise("[forecast] the model's experiment");
  return options;
}

Recordings recordings_for(const Model& model, const SeriesOptions& options, bool allow_future) {
  Recordings recordings = read_recordings(options, std::filesystem::path(), allow_future);
  if (recordings.axis.times.size() == 1)
    throw InputError({options.where()}, Rule::shape,
                     "has one row. Two are needed, whose times tell the distance of rows.");
  if (model.dtype() == Dtype::f64) return recordings;
  for (std::int64_t row = 0; row < recordings.rows; ++row)
    for (const std::int64_t input : recordings.input) {
      const Column& column = recordings.column(input);
      const double number = column.at(row);
      if (std::isnan(number) || std::isfinite(static_cast<float>(number))) continue;
      const TimeAxis& axis = recordings.axis;
      const std::string place = axis.times.empty()
                                    ? text_of("row ", row)
                                    : label_of(axis, axis.times[static_cast<std::size_t>(row)]);
      throw InputError({options.where()}, Rule::not_finite,
                       text_of(place, ": ", column.name, " is ", number, ", which is not finite in f32."));
    }
  return recordings;
}

std::vector<Feedback> feedback_of(const Recordings& recordings, const LossFunction& loss) {
  std::vector<Feedback> feedback;
  for (std::size_t i = 0; i < recordings.input.size(); ++i)
    for (std::size_t k = 0; k < recordings.target.size(); ++k)
      if (recordings.input[i] == recordings.target[k])
        feedback.push_back({static_cast<std::int64_t>(i),
                            static_cast<std::int64_t>(k) * loss.outputs_of_target() + loss.middle()});
  return feedback;
}

std::vector<bool> masks_of_fed(const Recordings& recordings, const std::vector<Feedback>& feedback) {
  std::vector<bool> masks;
  for (const std::int64_t input : recordings.input)
    masks.push_back(std::ranges::any_of(feedback, [&](const Feedback& fed) {
      return recordings.input[static_cast<std::size_t>(fed.input)] == recordings.column(input).masks;
    }));
  return masks;
}

std::int64_t season_of(const TimeAxis& axis, std::int64_t given) {
  constexpr double kDay = 86400;
  if (given > 0) return given;
  if (axis.times.empty()) return 0;
  const double steps = kDay / axis.interval;
  if (steps == 1) return 7;
  return steps > 1 && steps == std::floor(steps) ? static_cast<std::int64_t>(steps) : 0;
}

double time_of_row(const TimeAxis& axis, std::int64_t row, std::int64_t end) {
  if (row < end) return axis.times[static_cast<std::size_t>(row)];
  return axis.times[static_cast<std::size_t>(end - 1)] + static_cast<double>(row - end + 1) * axis.interval;
}

namespace {

/// The shortest decimals of a number, without an exponent unless it would be very long: 100000, not 1e+05.
std::string plain_number(double number) {
  char digits[32];
  auto [end, error] = std::to_chars(digits, std::end(digits), number, std::chars_format::fixed);
  if (error != std::errc()) end = std::to_chars(digits, std::end(digits), number).ptr;
  return {digits, end};
}

}  // namespace

std::string label_of(const TimeAxis& axis, double time) {
  if (!axis.has_dates) return plain_number(time);
  const double offset = axis.offset.value_or(0);
  const Instant milliseconds = std::llround((time + offset) * 1000);
  const char* const format = axis.are_days              ? "%Y-%m-%d"
                             : milliseconds % 1000 == 0 ? "%Y-%m-%dT%H:%M:%S"
                                                        : "%Y-%m-%dT%H:%M:%S.%3f";
  const bool has_offset = axis.has_offsets && !axis.are_days;
  return TimePattern(format).write(milliseconds * (kOneSecond / 1000), 0) +
         (!has_offset   ? ""
          : offset == 0 ? "Z"
                        : offset_text(std::llround(offset)));
}

}  // namespace lagtape
