#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lagtape/tests/cells/support/cell_row.h"
#include "lagtape/tests/ops/recurrence/support/sequence_case.h"

namespace lagtape::test {

/// Runs a cell with the numbers of another implementation: outputs, and gradients of the sum of outputs[k] * cos(k).
struct Golden {
  Golden(const std::string& cell, const Json& numbers)
      : json(numbers), layer(build_cell(cell, json["options"], json["input"].get<std::int64_t>()).front()) {}

  Tensor tensor(const Json& numbers, Shape shape, Dtype dtype) const {
    return Tensor::from(std::move(shape), numbers.get<std::vector<double>>(), dtype);
  }

  std::string problems(Dtype dtype, double tolerance, double of_gradients) const {
    const std::int64_t rows = json["rows"].get<std::int64_t>(), steps = json["steps"].get<std::int64_t>();
    Tape tape;
    std::vector<Var> parameters, initial;
    for (const ParameterDefinition& p : layer.parameters)
      parameters.push_back(tape.variable(tensor(json["parameters"][p.name], p.shape, dtype)));
    for (int s = 0; s < static_cast<int>(layer.program.states.size()); ++s) {
      const std::string& name = layer.program.states[s].name;
      const Shape shape = state_window(layer.program, s, rows, dtype).first;
      initial.push_back(tape.variable(json["initial"].contains(name)
                                          ? tensor(json["initial"][name], shape, dtype)
                                          : Tensor(shape, dtype)));
    }
    SequenceBatch batch;
    batch.x = tensor(json["x"], {rows, steps, json["input"].get<std::int64_t>()}, dtype);
    const Var x = tape.variable(batch.x);

    StackDefinition stack;
    stack.layers = {layer.program};
    SequenceOp op(stack, dtype);
    ThreadPool pool(1);
    const Var y = op.outputs(tape, layer.step_weights(parameters), x, batch, pool, initial);
    Tensor weights(y.shape(), dtype);
    for (std::int64_t k = 0; k < weights.numel(); ++k) weights.set(k, std::cos(static_cast<double>(k)));
    tape.backward(y, weights);

    std::string text;
    const auto compare = [&](const std::string& name, const Tensor& got, const Json& wanted) {
      const Difference apart = difference(got, tensor(wanted, got.shape(), dtype));
      if (!(apart.relative <= (name == "outputs" ? tolerance : of_gradients)))
        text += text_of(name, ": ", apart.where, "\n");
    };
    compare("outputs", y.value(), json["outputs"]);
    compare("d x", x.grad(), json["gradients"]["x"]);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string& name = layer.parameters[i].name;
      compare("d " + name, parameters[i].grad(), json["gradients"][name]);
    }
    for (std::size_t i = 0; i < initial.size(); ++i) {
      const std::string& name = layer.program.states[i].name;
      if (json["initial"].contains(name)) compare("d " + name, initial[i].grad(), json["gradients"][name]);
    }
    return text;
  }

  Json json;
  Layer layer;
};

}  // namespace lagtape::test
