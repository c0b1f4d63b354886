#include "lagtape/tools/forecast/model_forecast.h"

#include <vector>

#include "lagtape/core/error.h"

namespace lagtape {

void put_forecast(PredictedTargets& predicted, std::span<const ForecastModel> models,
                  const ForecastInputs& inputs, const PathOptions& options) {
  const LossFunction& loss = models.front().model().loss();
  const std::int64_t steps = inputs.inputs.size(0) - inputs.known;
  const bool reads_predictions = !inputs.feedback.empty() && steps > inputs.horizon;
  const bool draws = loss.has_levels() && options.paths > 0 && reads_predictions;
  std::vector<Tensor> predictions;
  const std::int64_t width = models.front().model().output_width();
  for (const ForecastModel& ready : models) {
    const Model& model = ready.model();
    if (model.loss().has_levels() != loss.has_levels() ||
        (loss.has_levels() &&
         (model.loss().kind != loss.kind || model.loss().options.levels != loss.options.levels)))
      throw InputError({.op = "forecast"}, Rule::conflict,
                       "the models of one forecast predict the same quantiles, or none.");
    if (model.output_width() != width)
      throw unexpected({.op = "forecast"}, Rule::shape, text_of("models of ", width, " outputs"),
                       text_of("one of ", model.output_width(), " outputs"));
    predictions.push_back(draws ? draw_paths(ready, inputs, options.paths, options.seed + predictions.size())
                                : closed_loop(ready, inputs));
  }
  if (draws) {
    put_paths(predicted, predictions, loss);
  } else {
    put_outputs(predicted, predictions, loss);
  }
}

}  // namespace lagtape
