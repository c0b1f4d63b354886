#include "lagtape/tools/forecast/model_forecast.h"

#include <vector>

#include "lagtape/core/error.h"

namespace lagtape {

void put_forecast(PredictedTargets& predicted, std::span<const Model> models, const ForecastInputs& inputs,
                  const PathOptions& options) {
  const LossFunction& loss = models.front().loss();
  const std::int64_t steps = inputs.inputs.size(0) - inputs.known;
  const bool reads_predictions = !inputs.feedback.empty() && steps > inputs.horizon;
  const bool draws = loss.has_levels() && options.paths > 0 && reads_predictions;
  std::vector<Tensor> predictions;
  for (const Model& model : models) {
    if (model.loss().has_levels() != loss.has_levels() ||
        (loss.has_levels() &&
         (model.loss().kind != loss.kind || model.loss().options.levels != loss.options.levels)))
      throw InputError({.op = "forecast"}, Rule::conflict,
                       "the models of one forecast predict the same quantiles, or none.");
    if (model.output_width() != models.front().output_width())
      throw unexpected({.op = "forecast"}, Rule::shape,
                       text_of("models of ", models.front().output_width(), " outputs"),
                       text_of("one of ", model.output_width(), " outputs"));
    predictions.push_back(draws ? draw_paths(model, inputs, options.paths, options.seed + predictions.size())
                                : closed_loop(model, inputs));
  }
  if (draws) {
    put_paths(predicted, predictions, loss);
  } else {
    put_outputs(predicted, predictions, loss);
  }
}

}  // namespace lagtape
