#include "lagtape/optim/ridge_readout.h"

#include <algorithm>
#include <cmath>

#include "lagtape/cells/models/recurrence.h"
#include "lagtape/core/error.h"

namespace lagtape {
namespace {

/// Adds the steps of a batch that have targets. states [B, T, in] or [B, in], targets likewise.
void add_batch(RidgeSums& sums, const Tensor& states, const SequenceBatch& batch) {
  const std::int64_t in = states.size(-1), out = batch.targets.size(-1), rows = states.size(0);
  const std::int64_t steps = states.numel() / (rows * in);
  std::vector<double> x(in), y(out);
  for (std::int64_t row = 0; row < rows * steps; ++row) {
    if (steps > 1 && !batch.lengths.empty() && row % steps >= batch.lengths[row / steps]) continue;
    for (std::int64_t i = 0; i < in; ++i) x[i] = states.at(row * in + i);
    for (std::int64_t i = 0; i < out; ++i) y[i] = batch.targets.at(row * out + i);
    if (std::ranges::all_of(y, [](double v) { return std::isfinite(v); })) sums.add(x, y);
  }
}

Parameter& parameter_named(Model& model, const std::string& name) {
  for (Parameter& parameter : model.parameters())
    if (parameter.name == name) return parameter;
  throw InputError({.op = "ridge"}, Rule::not_supported, "it needs a read-out that is a linear map", {});
}

}  // namespace

double solve_readout(const Ridge& ridge, Model& model, ThreadPool& pool,
                     const std::function<SequenceBatch()>& next) {
  if (model.loss() != Loss::mse)
    throw InputError({.op = "ridge"}, Rule::conflict, "it is for the loss \"mse\"", {});
  Parameter &weight = parameter_named(model, "readout.W"), &bias = parameter_named(model, "readout.W.bias");
  Recurrence recurrence(model.definition(), model.input_width(), model.at());
  std::vector<Tensor> values;
  for (const Parameter& parameter : model.parameters())
    if (!parameter.name.starts_with("readout.")) values.push_back(parameter.value);
  RidgeSums sums(weight.value.size(1), weight.value.size(0));
  Window after;
  for (SequenceBatch batch = next(); batch.x.numel() > 0; batch = next())
    add_batch(sums, recurrence.evaluate(values, batch, pool, {}, after), batch);
  const RidgeSums::Solution solution = sums.solve(ridge.alpha());
  for (std::int64_t i = 0; i < weight.value.numel(); ++i)
    weight.value.set(i, solution.weights.values[static_cast<std::size_t>(i)]);
  for (std::int64_t i = 0; i < bias.value.numel(); ++i)
    bias.value.set(i, solution.bias[static_cast<std::size_t>(i)]);
  return solution.mean_square;
}

}  // namespace lagtape
