#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "lagtape/cells/gru.h"
#include "lagtape/cells/lstm.h"
#include "lagtape/cells/rnn.h"
#include "lagtape/cells/tau_gru.h"
#include "lagtape/core/error.h"
#include "lagtape/ops/recurrence/step/step_tape.h"
#include "lagtape/tests/core/support/hostile_locale.h"
#include "lagtape/tools/exchange/export/c99/c_loops.h"
#include "lagtape/tools/exchange/export/c99/c_names.h"
#include "lagtape/tools/exchange/export/c99/c_numbers.h"
#include "lagtape/tools/exchange/export/c99/c_source.h"
#include "lagtape/tools/exchange/export/fixed_values.h"
#include "lagtape/tools/exchange/export/gated_layer.h"
#include "lagtape/tools/exchange/export/onnx/onnx_model.h"

// Whole exports are run beside the tool in tests/cli/export_*_test.py; these are their parts.

namespace lagtape {
namespace {

ExportedLayer exported_layer(StepProgram program, double value) {
  ExportedLayer layer{"layer0", std::move(program), {}};
  for (const WeightDefinition& weight : layer.program.weights)
    layer.weights.push_back(Tensor::full(weight.shape, Dtype::f64, value));
  return layer;
}

TEST_CASE("an element-wise step is one loop, and a product of its result begins another") {
  StepTape tape(3);
  const StepVar h = tape.state("h", RowShape::vector(3));
  const StepVar a = tanh(tape.input() + h);
  const StepVar next = sigmoid(a);
  tape.set_next(h, next);
  tape.set_output(product(tape.matrix("W", 2, 3), next));
  const StepProgram program = tape.finish();
  std::vector<bool> given;
  for (const Instruction& v : program.values)
    given.push_back(v.op == StepOp::input || v.op == StepOp::state || v.op == StepOp::weight);
  const CLoops loops = loops_of(program, given);
  REQUIRE(loops.loops.size() == 2);
  CHECK(loops.loops[0].width == 3);
  CHECK(loops.loops[0].values.size() == 3);
  CHECK(loops.loops[1].width == 2);
  CHECK(loops.is_array[program.states[0].next]);
  CHECK(loops.is_array[program.output]);
  CHECK_FALSE(loops.is_array[loops.loops[0].values[0]]);
}

TEST_CASE("numbers of C read back as the same ones") {
  CHECK(c_number(1, Dtype::f32) == "1.0f");
  CHECK(c_number(-0.1, Dtype::f64) == "-0.1");
  CHECK(c_number(1e-30, Dtype::f32) == "1e-30f");
  CHECK(c_number(1e300, Dtype::f32) == "HUGE_VALF");
  CHECK(c_number(std::nan(""), Dtype::f64) == "(double)NAN");
  for (const float value : {0.1f, 3.4028235e38f, 1.17549435e-38f, -16777217.0f})
    CHECK(std::stof(c_number(value, Dtype::f32)) == value);
}

TEST_CASE("whole numbers are off by half a scale at most, and zeros stay zeros") {
  const Tensor matrix = Tensor::from({3, 4}, {1, -0.5, 0.3, 0.001, 100, 1, 2, 3, 0, 0, 0, 0}, Dtype::f64);
  for (const CWeights kind : {CWeights::int8, CWeights::int16}) {
    const double largest = kind == CWeights::int8 ? 127 : 32767;
    const WholeNumbers whole = whole_numbers(matrix, kind);
    CHECK(whole.values[0] == largest);
    CHECK(whole.values[4] == largest);
    const Tensor back = restored(whole, matrix.shape(), Dtype::f64);
    for (std::int64_t i = 0; i < matrix.numel(); ++i)
      CHECK(std::abs(back.at(i) - matrix.at(i)) <= 0.5001 * whole.scales[i / 4]);
    CHECK(whole.scales[0] == doctest::Approx(1 / largest));
    for (std::int64_t i = 8; i < 12; ++i) CHECK(back.at(i) == 0);
  }
}

TEST_CASE("names in C are distinct, and none is a word of the language") {
  CNames names({"state"});
  CHECK(names.unique("h") == "h");
  CHECK(names.unique("h") == "h_2");
  CHECK(names.unique("W.bias") == "W_bias");
  CHECK(names.unique("float") == "float_2");
  CHECK(names.unique("exp") == "exp_2");
  CHECK(names.unique("state") == "state_2");
  CHECK(c_identifier("808 drum") == "m808_drum");
  CHECK(c_identifier("_x") == "m_x");
  CHECK(c_identifier("") == "m");
}

TEST_CASE("values of weights and numbers alone are computed once") {
  StepTape tape(2);
  const StepVar h = tape.state("h", RowShape::vector(2));
  const StepVar next = h * exp(tape.vector("w", 2)) + tape.input();
  tape.set_next(h, next);
  tape.set_output(next);
  const ExportedLayer layer = exported_layer(tape.finish(), 0.5);
  const auto fixed = fixed_values(layer);
  int found = 0;
  for (std::size_t id = 0; id < fixed.size(); ++id) {
    if (!layer.program.values[id].computes(ElementOp::exp)) continue;
    ++found;
    REQUIRE(fixed[id].size() == 2);
    CHECK(fixed[id][1] == std::exp(0.5));
  }
  CHECK(found == 1);
  CHECK(fixed[layer.program.output].empty());
}

TEST_CASE("cells of other programs are told by their steps") {
  const auto cell_of = [](const StepProgram& program) {
    const ExportedLayer layer = exported_layer(program, 0.1);
    const auto found = gated_layer(layer);
    return found ? std::string(found->cell) : std::string();
  };
  CHECK(cell_of(Lstm{.units = 3}.build(2).program) == "lstm");
  CHECK(cell_of(Gru{.units = 3}.build(2).program) == "gru");
  CHECK(cell_of(Rnn{.units = 3}.build(2).program) == "rnn");
  CHECK(cell_of(Lstm{.units = 3, .forget_gate = false}.build(2).program).empty());
  CHECK(cell_of(Lstm{.units = 3, .scaling = "v1", .dt = 0.5}.build(2).program).empty());
}

TEST_CASE("a name that C would not take is refused with one that it would") {
  const Model model({.layers = {Gru{.units = 2}}, .readout = {.units = 1}, .loss = Loss::mse}, {.input = 1});
  CHECK_THROWS_WITH_AS(c_source(model, {.name = "2nd"}),
                       "[export] '2nd' is not a name in C; 'm2nd' would be one", InputError);
  CHECK(c_source(model, {.name = "second"}).find("void second_step(") != std::string::npos);
}

TEST_CASE("no export follows the global locale of its host") {
  const Model model({.layers = {TauGru{.units = 2, .tau = 1500}}, .readout = {.units = 1}, .loss = Loss::mse},
                    {.input = 1});
  const auto exports = [&] {
    return c_source(model, {.name = "delay"}) + onnx_step_model(model) + onnx_sequence_model(model);
  };
  const std::string classic = exports();
  const HostileLocale locale;
  CHECK(exports() == classic);
}

}  // namespace
}  // namespace lagtape
