#pragma once

#include <limits>
#include <string>
#include <vector>

#include "lagtape/data/series/recordings.h"
#include "lagtape/tools/forecast/closed_loop.h"

namespace lagtape {

/// Stands for a number that nobody has measured.
inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

/// The options of the recordings that a model was trained on, from the experiment in its file. Throws InputError
/// for a model of another task.
SeriesOptions series_options_of(const Model& model);

/// Reads recordings for a model. Throws InputError as read_recordings does, and for an input that is too large for the
/// model's precision.
Recordings recordings_for(const Model& model, const SeriesOptions& options, bool allow_future);

/// The targets that a model predicts and also reads; of several quantiles it reads the one nearest to the median.
std::vector<Feedback> feedback_of(const Recordings& recordings, const LossFunction& loss);

/// By input, whether it says if the number of an input was there that is predicted: a prediction always is.
std::vector<bool> masks_of_fed(const Recordings& recordings, const std::vector<Feedback>& feedback);

/// The rows of a period: as given, else a week of rows that are a day apart, or a day of rows that divide it; 0
/// when none is known.
std::int64_t season_of(const TimeAxis& axis, std::int64_t given);

/// The time of a row, also of one behind the row before `end`, the last of its segment.
double time_of_row(const TimeAxis& axis, std::int64_t row, std::int64_t end);

/// A time as the file writes it: a number, or a date, with the time of day unless all rows are of midnights.
std::string label_of(const TimeAxis& axis, double time);

}  // namespace lagtape
