#pragma once

#include <limits>
#include <string>
#include <vector>

#include "lagtape/data/series/read_panel.h"
#include "lagtape/tools/forecast/closed_loop.h"
#include "lagtape/tools/forecast/predicted_targets.h"

namespace lagtape {

/// The value of an unmeasured number.
inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

/// The options of the recordings on which a model was trained, from the experiment in its file. Throws
/// InputError for a model of another task.
SeriesOptions series_options_of(const Model& model);

/// The inputs of a model of recordings at a step, in order: "temp" at the step's row, "temp[+1]" one row later.
/// Empty for models of other tasks, and if no key selects the columns.
std::vector<std::string> input_names_of(const Model& model);

/// The outputs of a model whose classes have names: "logit of fault", for each class or for the second of two.
/// Empty for other models.
std::vector<std::string> class_outputs_of(const Model& model);

/// Reads a panel for a model. Throws InputError as read_panel does, and for an input that is too large for the
/// model's precision.
Panel panel_for(const Model& model, const SeriesOptions& options, const PanelReading& reading = {});

/// The number that a row's step reads for an input; NaN if unknown. After the segment, the calendar and static
/// columns continue.
double input_of_step(const Panel& panel, std::int64_t input, std::int64_t row, const RowRange& segment);

/// The targets that a model both predicts and reads; if there are several quantiles, it reads the one nearest
/// to the median.
std::vector<Feedback> feedback_of(const Panel& panel, const LossFunction& loss);

/// Where a forecast starts and what it continues.
struct ForecastStart {
  std::int64_t first = 0;  ///< the row of the first prediction
  RowRange segment = {};   ///< rows without a gap that start before it, and may end after it

  std::int64_t known() const { return first - segment.first; }
};

/// The numbers of columns as they are known where a forecast starts. A number that depends on a later one, such
/// as one interpolated towards it, is not known then: the last number before it is used.
class KnownNumbers {
 public:
  KnownNumbers(const Panel& panel, const ForecastStart& start);

  double at(std::int64_t column, std::int64_t row) const;
  /// A column without any number before the forecast; -1: there is none.
  std::int64_t without_number() const;

 private:
  const Panel& panel_;
  ForecastStart start_;
  std::vector<std::int64_t> last_;  ///< by column: its last measured row before the forecast
};

/// The normalization of a model for a series: from training, for a new series from its known rows, or the
/// model's for all series.
Normalization normalization_for(const Model& model, const SeriesOptions& options, const Panel& panel,
                                const PanelSeries& series, const RowRange& known);

/// The inputs of a forecast's steps; NaN if unknown. A prediction's mask always counts it as present. Refers to
/// the panel and the options.
ForecastInputs forecast_inputs(const Panel& panel, const ForecastStart& start, std::int64_t steps,
                               const SeriesOptions& series, const LossFunction& loss);

/// The columns that are known only up to the first prediction, but whose later rows a forecast of this many
/// steps reads.
std::vector<std::string> read_later(const Panel& panel, const SeriesOptions& series, std::int64_t steps);

/// Gives predictions the names and units of the panel's targets, and the clock for dates in charts.
void name_targets(const Panel& panel, PredictedTargets& predicted);

/// A time: a number if the file has numbers, else an ISO date, with the time of day unless all rows are
/// midnights, and with the UTC offset if the file has one or a clock is given.
std::string label_of(const TimeAxis& axis, Instant time);

}  // namespace lagtape
