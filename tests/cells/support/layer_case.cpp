#include "lagtape/tests/cells/support/layer_case.h"

#include <cmath>

#include "lagtape/core/random.h"
#include "lagtape/tests/cells/support/cell_row.h"

namespace lagtape::test {

Layer build_sequence_layer(const std::string& name, const Json& options, std::int64_t input) {
  JsonErrors errors;
  JsonReader reader(options, "", errors);
  const BuildLayer build = read_entry(*find_named(sequence_layers(), name), reader);
  reader.finish();
  errors.raise(name);
  return build(input).layers.front();
}

LayerCase::LayerCase(Layer given, Tensor x, std::vector<std::int64_t> lengths) : layer(std::move(given)) {
  RandomStream random(3, 1);
  for (const ParameterDefinition& p : layer.parameters) {
    Tensor value(p.shape, x.dtype());
    initialize(value, p.initializer, 1, p.name);
    for (std::int64_t i = 0; i < value.numel(); ++i) value.set(i, value.at(i) + 0.3 * random.next_uniform());
    parameters.push_back(std::move(value));
  }
  batch.x = std::move(x);
  batch.lengths = std::move(lengths);
  batch.training = true;
  for (const StackDefinition& stack : layer.whole->ops()) ops_.emplace_back(stack, batch.x.dtype());
}

Var LayerCase::record(Tape& tape, std::span<const Var> vars, const Var& x, ThreadPool& pool,
                      Statistics* statistics) {
  Statistics unused;
  return layer.whole->record({tape, batch, pool, ops_, statistics != nullptr ? *statistics : unused},
                             layer.step_weights(vars), x);
}

std::vector<Tensor> LayerCase::run(const Tensor& weights, int threads) {
  Tape tape;
  ThreadPool pool(threads);
  std::vector<Var> vars;
  for (const Tensor& p : parameters) vars.push_back(tape.variable(p));
  const bool tokens = layer.whole->tokens() > 0;
  const Var x = tokens ? tape.constant(batch.x) : tape.variable(batch.x);
  const Var y = record(tape, vars, x, pool);
  tape.backward(y, weights);
  std::vector<Tensor> results = {y.value().clone(), tokens ? Tensor({1}, batch.x.dtype()) : x.grad()};
  for (const Var& var : vars) results.push_back(var.grad());
  return results;
}

Tensor LayerCase::evaluate() {
  ThreadPool pool(1);
  Tape tape;
  std::vector<Var> vars;
  for (const Tensor& p : parameters) vars.push_back(tape.constant(p));
  std::vector<Tensor> weights;
  const Layer* of_a_step = layer.whole->in_evaluation();
  for (const Var& w : of_a_step ? of_a_step->step_weights(vars) : layer.step_weights(vars))
    weights.push_back(w.value());
  if (of_a_step == nullptr) return layer.whole->evaluate(weights, batch.x, batch, pool, ops_);
  StackDefinition stack;
  stack.layers = {of_a_step->program};
  return SequenceOp(stack, batch.x.dtype()).evaluate(weights, batch, pool);
}

Tensor cosines(const Shape& shape, Dtype dtype, std::span<const std::int64_t> lengths) {
  Tensor result(shape, dtype);
  for (std::int64_t k = 0; k < result.numel(); ++k) {
    const std::int64_t step = k / shape[2] % shape[1], row = k / shape[2] / shape[1];
    if (lengths.empty() || step < lengths[static_cast<std::size_t>(row)])
      result.set(k, std::cos(static_cast<double>(k)));
  }
  return result;
}

}  // namespace lagtape::test
