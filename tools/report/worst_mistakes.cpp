#include "lagtape/tools/report/worst_mistakes.h"

#include <algorithm>
#include <cmath>

namespace lagtape::report {

Mistake WorstMistakes::class_mistake(const Tensor& outputs, const Batch& batch, std::int64_t place) const {
  Mistake mistake;
  const std::int64_t q = outputs.size(-1);
  mistake.actual = batch.classes.empty() ? static_cast<std::int64_t>(batch.y.at(place))
                                         : batch.classes[static_cast<std::size_t>(place)];
  if (q == 1) {
    const double share = 1 / (1 + std::exp(-outputs.at(place)));
    mistake.predicted = share > 0.5 ? 1 : 0;
    mistake.error = std::max(share, 1 - share);
  } else {
    double largest = outputs.at(place * q), sum = 0;
    mistake.predicted = 0;
    for (std::int64_t i = 1; i < q; ++i) {
      if (outputs.at(place * q + i) <= largest) continue;
      largest = outputs.at(place * q + i);
      mistake.predicted = i;
    }
    for (std::int64_t i = 0; i < q; ++i) sum += std::exp(outputs.at(place * q + i) - largest);
    mistake.error = 1 / sum;
  }
  if (mistake.predicted == mistake.actual || mistake.actual < 0) mistake.error = 0;
  return mistake;
}

Mistake WorstMistakes::mistake_of(const Tensor& outputs, const Batch& batch, std::int64_t row) const {
  const std::int64_t stride = outputs.rank() == 3 ? outputs.size(1) : 1, q = outputs.size(-1);
  const std::int64_t steps = outputs.rank() == 3 ? batch.lengths[static_cast<std::size_t>(row)] : 1;
  Mistake worst;
  if (data_.classes > 0) {
    for (std::int64_t place = row * stride; place < row * stride + steps; ++place) {
      const Mistake found = class_mistake(outputs, batch, place);
      if (found.error > worst.error) worst = found;
    }
    return worst;
  }
  double squares = 0, count = 0;
  const std::int64_t each = loss_.outputs_of_target(), targets = q / each, middle = loss_.middle();
  for (std::int64_t i = row * stride * targets; i < (row * stride + steps) * targets; ++i) {
    const auto column = static_cast<std::size_t>(i % targets);
    const double difference =
        scaling_.restored(outputs.at(i * each + middle), column) - scaling_.restored(batch.y.at(i), column);
    if (!std::isfinite(difference)) continue;
    squares += difference * difference;
    ++count;
  }
  worst.error = count > 0 ? std::sqrt(squares / count) : 0;
  return worst;
}

void WorstMistakes::add(const Tensor& outputs, const Batch& batch) {
  for (std::int64_t row = 0; row < batch.size(); ++row) {
    Mistake mistake = mistake_of(outputs, batch, row);
    if (mistake.error <= 0) continue;
    mistake.sequence = batch.ids[static_cast<std::size_t>(row)];
    worst_.push_back(mistake);
  }
  std::ranges::stable_sort(worst_, std::ranges::greater(), &Mistake::error);
  worst_.resize(std::min(worst_.size(), kMost));
}

}  // namespace lagtape::report
