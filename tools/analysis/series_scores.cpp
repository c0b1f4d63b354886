#include "lagtape/tools/analysis/series_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lagtape/data/series/sequence_labels.h"
#include "lagtape/tools/train/losses.h"

namespace lagtape {

std::vector<std::size_t> largest_and_smallest(std::span<const double> values) {
  std::vector<std::size_t> numbers(values.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::ranges::stable_sort(numbers, [&](std::size_t a, std::size_t b) {
    return std::isnan(values[a]) ? !std::isnan(values[b]) : values[a] > values[b];
  });
  if (numbers.size() > 2 * kShownEach)
    numbers.erase(numbers.begin() + kShownEach, numbers.end() - kShownEach);
  return numbers;
}

std::vector<std::size_t> worst_and_best(std::span<const SeriesEvaluation> series) {
  std::vector<double> losses;
  for (const SeriesEvaluation& one : series) losses.push_back(value_of(one.metrics, "loss"));
  return largest_and_smallest(losses);
}

void for_each_series(const Dataset& split, const Batch& batch, const SeriesRows& use) {
  const auto series_at = [&](std::int64_t row) {
    return series_of(split, batch.ids[static_cast<std::size_t>(row)]);
  };
  for (std::int64_t row = 0; row < batch.size();) {
    const PanelSeries* series = series_at(row);
    if (series == nullptr) return;
    std::int64_t end = row + 1;
    while (end < batch.size() && series_at(end) == series) ++end;
    use(*series, row, end);
    row = end;
  }
}

SeriesScores::SeriesScores(const Experiment& experiment, const Model& model, const Dataset& split)
    : experiment_(experiment),
      split_(split),
      none_(experiment.loss, experiment.metrics, normalization_of_data(model).output,
            split.shape().class_names, &split) {}

void SeriesScores::add(const Tensor& outputs, const Batch& batch) {
  for_each_series(split_, batch, [&](const PanelSeries& series, std::int64_t first, std::int64_t end) {
    const auto own = of_.try_emplace(series.first, OfSeries{series.name(), none_}).first;
    own->second.scores.add(outputs, batch, first, end);
  });
}

std::vector<SeriesEvaluation> SeriesScores::all() const {
  std::vector<SeriesEvaluation> all;
  for (const auto& [first, own] : of_)
    all.push_back({own.name, evaluation_of(own.scores, experiment_.metrics)});
  return all;
}

}  // namespace lagtape
