#include "lagtape/tools/analysis/series_scores.h"

#include "lagtape/data/series/sequence_labels.h"
#include "lagtape/tools/train/losses.h"

namespace lagtape {

SeriesScores::SeriesScores(const Experiment& experiment, const Model& model, const Dataset& split)
    : experiment_(experiment),
      split_(split),
      none_(experiment.loss, experiment.metrics, normalization_of_data(model).output,
            split.shape().class_names, &split) {}

void SeriesScores::add(const Tensor& outputs, const Batch& batch) {
  const auto series_at = [&](std::int64_t row) {
    return series_of(split_, batch.ids[static_cast<std::size_t>(row)]);
  };
  for (std::int64_t row = 0; row < batch.size();) {
    const PanelSeries* series = series_at(row);
    if (series == nullptr) return;
    std::int64_t end = row + 1;
    while (end < batch.size() && series_at(end) == series) ++end;
    const auto own = of_.try_emplace(series->first, OfSeries{series->name(), none_}).first;
    own->second.scores.add(outputs, batch, row, end);
    row = end;
  }
}

std::vector<SeriesEvaluation> SeriesScores::all() const {
  std::vector<SeriesEvaluation> all;
  for (const auto& [first, own] : of_)
    all.push_back({own.name, evaluation_of(own.scores, experiment_.metrics)});
  return all;
}

}  // namespace lagtape
