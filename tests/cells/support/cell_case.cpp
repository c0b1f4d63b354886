#include "lagtape/tests/cells/support/cell_case.h"

#include "lagtape/tests/ops/recurrence/support/random_case.h"

namespace lagtape::test {
namespace {

std::vector<Var> variables(Tape& tape, const std::vector<Tensor>& values) {
  std::vector<Var> vars;
  for (const Tensor& value : values) vars.push_back(tape.variable(value));
  return vars;
}

std::vector<Tensor> step_weights(const Layer& layer, const std::vector<Tensor>& parameters) {
  Tape tape;
  std::vector<Tensor> weights;
  for (const Var& weight : layer.step_weights(variables(tape, parameters)))
    weights.push_back(weight.value().clone());
  return weights;
}

}  // namespace

CellCase cell_case(const Layer& layer, std::int64_t rows, std::int64_t steps, std::uint64_t seed) {
  CellCase c{layer, {}, {}};
  RandomStream random(seed, stream_name({0x63656c6c}));
  for (const ParameterDefinition& parameter : layer.parameters) {
    Tensor value(parameter.shape, Dtype::f64);
    initialize(value, parameter.initializer, seed, parameter.name);
    const Tensor noise = random_tensor(random, parameter.shape, 0.2);
    for (std::int64_t i = 0; i < value.numel(); ++i) value.set(i, value.at(i) + noise.at(i));
    c.parameters.push_back(value);
  }
  StackDefinition stack;
  stack.layers = {layer.program};
  c.sequence = filled(std::move(stack), rows, steps, seed);
  add_initial(c.sequence, seed);
  c.sequence.weights = step_weights(layer, c.parameters);
  return c;
}

Layer off_grid(Layer layer) {
  for (StateDefinition& state : layer.program.states) state.arithmetic = Arithmetic::real;
  return layer;
}

GradientReport check_cell_gradients(const CellCase& c) {
  SequenceOp op(c.sequence.stack, Dtype::f64);
  ThreadPool pool(1);
  std::vector<Tensor> inputs = c.parameters;
  inputs.push_back(c.sequence.batch.x);
  inputs.insert(inputs.end(), c.sequence.initial.begin(), c.sequence.initial.end());
  const auto value = [&](Tape& tape, std::span<const Var> vars) {
    std::vector<Var> of_step = c.layer.step_weights(vars.first(c.parameters.size()));
    const std::span<const Var> rest = vars.subspan(c.parameters.size());
    of_step.insert(of_step.end(), rest.begin(), rest.end());
    return scalar_op(tape, c.sequence, of_step, op, pool);
  };
  return check_gradients(value, inputs, {.projections = 2, .elements = 4, .floor = 1e-5});
}

}  // namespace lagtape::test
