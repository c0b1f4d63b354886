#include "lagtape/data/baselines/linear_fit.h"

#include <algorithm>

#include "lagtape/data/baselines/step_regressions.h"
#include "lagtape/data/batches.h"

namespace lagtape {

namespace {

/// The products of the steps of all sequences.
StepProducts products_of(const Task& task, const Dataset& set, ThreadPool& pool) {
  constexpr std::int64_t kAtOnce = 256;
  const LinearTerm& term = *task.shape.linear;
  const std::int64_t width = task.shape.input, targets = task.shape.output;
  StepProducts products({.shared = term.features(width), .own = 0, .targets = targets, .steps = 1});
  std::vector<double> features(static_cast<std::size_t>(term.features(width)));
  std::vector<double> target(static_cast<std::size_t>(targets));
  for (std::int64_t first = 0; first < set.size(); first += kAtOnce) {
    const Batch batch =
        gather(set, indices_in_order(set, first, kAtOnce), Dtype::f64, pool, task.normalization);
    const std::int64_t steps = batch.x.size(1);
    for (std::int64_t row = 0; row < batch.size(); ++row) {
      const std::int64_t length = batch.lengths[static_cast<std::size_t>(row)];
      for (std::int64_t step = task.shape.every_step ? term.reach() : length - 1; step < length; ++step) {
        const double* x = batch.x.values<double>().data() + (row * steps + step) * width;
        auto feature = std::copy_n(x, width, features.begin());
        for (const std::int64_t lag : term.lags)
          for (const std::int64_t input : term.inputs) *feature++ = x[input - lag * width];
        const std::int64_t place = task.shape.every_step ? row * steps + step : row;
        for (std::int64_t i = 0; i < targets; ++i)
          target[static_cast<std::size_t>(i)] = batch.y.at(place * targets + i);
        products.add(features.data(), nullptr, target.data());
      }
    }
  }
  return products;
}

}  // namespace

LinearFit fit_linear_term(const Task& task, ThreadPool& pool) {
  const std::int64_t width = task.shape.input, targets = task.shape.output;
  const std::int64_t features = task.shape.linear->features(width);
  LinearFit fit;
  if (task.seasonal.empty()) {
    const StepRegressions regressions(products_of(task, *task.train, pool),
                                      products_of(task, *task.valid, pool));
    for (std::int64_t i = 0; i < targets; ++i) {
      const double* weights = regressions.weights(0, i);
      fit.constant.push_back(weights[0]);
      fit.weights.insert(fit.weights.end(), weights + 1, weights + 1 + features);
    }
    return fit;
  }
  fit.weights.resize(static_cast<std::size_t>(targets * features));
  for (std::int64_t i = 0; i < targets; ++i) {
    // The same number normalized as an input, converted to one normalized as a target.
    const std::int64_t feature = task.seasonal[static_cast<std::size_t>(i)];
    const std::int64_t past = feature - width;
    const std::int64_t input = past < 0 ? feature : task.shape.linear->inputs[static_cast<std::size_t>(past)];
    const Scaling &in = task.normalization.input, &out = task.normalization.output;
    const auto mapped = [&](double x) {
      return out.normalized(in.restored(x, static_cast<std::size_t>(input)), static_cast<std::size_t>(i));
    };
    fit.constant.push_back(mapped(0));
    fit.weights[static_cast<std::size_t>(i * features + feature)] = mapped(1) - mapped(0);
  }
  return fit;
}

}  // namespace lagtape
