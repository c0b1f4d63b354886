#include "lagtape/cells/models/predictors.h"

#include <algorithm>
#include <utility>

namespace lagtape {

std::unique_ptr<Predictor> Predictors::take(int threads) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      idle_, [&](const auto& predictor) { return predictor->pool.threads() == threads; });
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<Predictor> predictor = std::move(*found);
  idle_.erase(found);
  return predictor;
}

void Predictors::put_back(std::unique_ptr<Predictor> predictor) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(predictor));
}

void Predictors::clear() {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

}  // namespace lagtape
