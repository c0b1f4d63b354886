#include "lagtape/tools/view/report/worst_mistakes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "lagtape/core/error.h"
#include "lagtape/tools/train/score/confusion.h"

namespace lagtape::report {

namespace {

/// The class at a place of the outputs; its error is the probability that a wrong class has, else 0.
Mistake class_mistake(const Tensor& outputs, const Batch& batch, std::int64_t place) {
  const auto [actual, predicted] = class_at(outputs, batch, place);
  Mistake mistake{.actual = actual, .predicted = predicted};
  if (predicted == actual || actual < 0) return mistake;
  const std::int64_t q = outputs.size(-1), first = place * q;
  double odds = q == 1 ? 1 + std::exp(-std::abs(outputs.at(first))) : 0;
  for (std::int64_t i = 0; i < q && q > 1; ++i)
    odds += std::exp(outputs.at(first + i) - outputs.at(first + predicted));
  mistake.error = 1 / odds;
  return mistake;
}

}  // namespace

bool has_chart(const Mistake& mistake) { return mistake.truths.size() > 1 || !mistake.inputs.empty(); }

Plot chart_of(const Mistake& mistake, const DataShape& data) {
  Plot plot{.x = {.title = "step"}};
  if (mistake.truths.size() > 1) {
    plot.title = fmt::format("sequence {}: error {:.4g}", mistake.sequence, mistake.error);
    plot.lines = {line_over("truth", mistake.truths, mistake.first_step),
                  line_over("prediction", mistake.predictions, mistake.first_step)};
    plot.lines[0].broad = true;
    return plot;
  }
  plot.title = mistake.actual >= 0 ? fmt::format("sequence {}: class {}, taken for {} ({:.4g})",
                                                 mistake.sequence, data.name_of_class(mistake.actual),
                                                 data.name_of_class(mistake.predicted), mistake.error)
                                   : fmt::format("sequence {}: {:.4g}, predicted {:.4g}", mistake.sequence,
                                                 mistake.truths[0], mistake.predictions[0]);
  for (std::size_t i = 0; i < mistake.inputs.size(); ++i)
    plot.lines.push_back(line_over(text_of("input ", i), mistake.inputs[i], mistake.first_step));
  return plot;
}

Mistake WorstMistakes::mistake_of(const Tensor& outputs, const Batch& batch, std::int64_t row) const {
  const std::int64_t stride = outputs.rank() == 3 ? outputs.size(1) : 1, q = outputs.size(-1);
  const std::int64_t steps = outputs.rank() == 3 ? batch.lengths[static_cast<std::size_t>(row)] : 1;
  Mistake worst;
  if (data_.classes > 0) {
    for (std::int64_t place = row * stride; place < row * stride + steps; ++place) {
      const Mistake found = class_mistake(outputs, batch, place);
      if (found.error <= worst.error) continue;
      worst = found;
      worst.step = place - row * stride;
    }
    return worst;
  }
  double squares = 0, count = 0;
  const Scaling& scaling = batch.normalization(row, normalization_).output;
  const std::int64_t each = loss_.outputs_of_target(), targets = q / each, middle = loss_.middle();
  for (std::int64_t i = row * stride * targets; i < (row * stride + steps) * targets; ++i) {
    const auto column = static_cast<std::size_t>(i % targets);
    const double difference =
        scaling.restored(outputs.at(i * each + middle), column) - scaling.restored(batch.y.at(i), column);
    if (!std::isfinite(difference)) continue;
    squares += difference * difference;
    ++count;
  }
  worst.error = count > 0 ? std::sqrt(squares / count) : 0;
  return worst;
}

void WorstMistakes::keep_sequence(Mistake& mistake, const Tensor& outputs, const Batch& batch,
                                  std::int64_t row) const {
  const Normalization& normalization = batch.normalization(row, normalization_);
  const std::int64_t steps = batch.lengths[static_cast<std::size_t>(row)];
  const std::int64_t middle = outputs.rank() == 3 && data_.classes > 0 ? mistake.step : steps;
  const std::int64_t last = std::clamp(middle + kMostSteps / 2, std::min(kMostSteps, steps), steps);
  mistake.first_step = std::max<std::int64_t>(last - kMostSteps, 0);
  if (data_.tokens == 0 && !batch.x.empty()) {
    mistake.inputs.resize(static_cast<std::size_t>(std::min(data_.input, kMostInputs)));
    for (std::size_t i = 0; i < mistake.inputs.size(); ++i)
      for (std::int64_t n = mistake.first_step; n < last; ++n) {
        const double x = batch.x.at((row * batch.x.size(1) + n) * data_.input + static_cast<std::int64_t>(i));
        mistake.inputs[i].push_back(normalization.input.restored(x, i));
      }
  }
  if (data_.classes > 0) return;
  const std::int64_t each = loss_.outputs_of_target(), targets = outputs.size(-1) / each;
  const bool every_step = outputs.rank() == 3;
  for (std::int64_t n = every_step ? mistake.first_step : 0; n < (every_step ? last : 1); ++n) {
    const std::int64_t place = (every_step ? row * outputs.size(1) + n : row) * targets;
    mistake.truths.push_back(normalization.output.restored(batch.y.at(place), 0));
    mistake.predictions.push_back(
        normalization.output.restored(outputs.at(place * each + loss_.middle()), 0));
  }
}

void WorstMistakes::add(const Tensor& outputs, const Batch& batch) {
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    Mistake mistake = mistake_of(outputs, batch, row);
    if (mistake.error <= 0 || (worst_.size() == kMost && mistake.error <= worst_.back().error)) continue;
    mistake.sequence = batch.ids[static_cast<std::size_t>(row)];
    keep_sequence(mistake, outputs, batch, row);
    worst_.insert(std::ranges::upper_bound(worst_, mistake.error, std::ranges::greater(), &Mistake::error),
                  std::move(mistake));
    worst_.resize(std::min(worst_.size(), kMost));
  }
}

}  // namespace lagtape::report
