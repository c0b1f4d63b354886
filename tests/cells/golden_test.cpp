#include <doctest/doctest.h>

#include <cmath>

#include "lagtape/core/io/file.h"
#include "lagtape/tests/cells/support/cell_row.h"
#include "lagtape/tests/ops/recurrence/support/sequence_case.h"

// Comparison of rnn, lstm and gru with PyTorch's, on the files that golden/make_golden.py wrote.

namespace lagtape {
namespace {

using namespace test;

/// Runs the cell with PyTorch's numbers: outputs, and gradients of the sum of outputs[k] * cos(k).
struct Golden {
  explicit Golden(const std::string& cell)
      : json(parse_json(read_file(source_folder() / "tests/cells/golden" / (cell + ".json")), cell)),
        layer(build_cell(cell, {{"units", json["units"]}}, json["input"].get<std::int64_t>()).front()) {}

  Tensor tensor(const Json& numbers, Shape shape, Dtype dtype) const {
    return Tensor::from(std::move(shape), numbers.get<std::vector<double>>(), dtype);
  }

  std::string problems(Dtype dtype, double tolerance) const {
    const std::int64_t rows = json["rows"].get<std::int64_t>(), steps = json["steps"].get<std::int64_t>(),
                       units = json["units"].get<std::int64_t>();
    Tape tape;
    std::vector<Var> parameters, initial;
    for (const ParameterDefinition& p : layer.parameters)
      parameters.push_back(tape.variable(tensor(json["parameters"][p.name], p.shape, dtype)));
    for (const StateDefinition& state : layer.program.states)
      initial.push_back(tape.variable(tensor(json["initial"][state.name], {1, rows, units}, dtype)));
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
      if (!(apart.relative <= tolerance)) text += text_of(name, ": ", apart.where, "\n");
    };
    compare("outputs", y.value(), json["outputs"]);
    compare("d x", x.grad(), json["gradients"]["x"]);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string& name = layer.parameters[i].name;
      compare("d " + name, parameters[i].grad(), json["gradients"][name]);
    }
    for (std::size_t i = 0; i < initial.size(); ++i) {
      const std::string& name = layer.program.states[i].name;
      compare("d " + name, initial[i].grad(), json["gradients"][name]);
    }
    return text;
  }

  Json json;
  Layer layer;
};

TEST_CASE("rnn, lstm and gru have the outputs and gradients of PyTorch") {
  for (const std::string cell : {"rnn", "lstm", "gru"}) {
    CAPTURE(cell);
    const Golden golden(cell);
    CHECK(golden.json["gradients"].size() ==
          golden.layer.parameters.size() + 1 + golden.json["initial"].size());
    CHECK(golden.problems(Dtype::f64, 1e-11) == "");
    CHECK(golden.problems(Dtype::f32, 1e-5) == "");
  }
}

TEST_CASE("numbers of PyTorch that are not the cell's are found") {
  Golden golden("gru");
  golden.json["gradients"]["W_n"][5] = golden.json["gradients"]["W_n"][5].get<double>() + 1e-9;
  CHECK(golden.problems(Dtype::f64, 1e-11).starts_with("d W_n: [5]"));
}

}  // namespace
}  // namespace lagtape
