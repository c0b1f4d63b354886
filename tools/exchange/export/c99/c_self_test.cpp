#include "lagtape/tools/exchange/export/c99/c_self_test.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/core/random.h"
#include "lagtape/ops/recurrence/stream/stream.h"

namespace lagtape {
namespace {

constexpr std::int64_t kSteps = 64;

/// Tokens, or numbers as normalized data have them, in the units of the data.
std::vector<double> inputs_of(const ExportedModel& model, Dtype dtype) {
  RandomStream random(0, stream_name({0x74657374}));  // "test"
  const std::int64_t width = model.input;
  std::vector<double> inputs;
  for (std::int64_t i = 0; i < kSteps * width; ++i) {
    double value = model.normalization.input.restored(random.next_normal(), i % width);
    if (!model.table.empty()) value = static_cast<double>(random.next_below(model.table.size(0)));
    inputs.push_back(dtype == Dtype::f32 ? static_cast<double>(static_cast<float>(value)) : value);
  }
  return inputs;
}

template <class T>
std::vector<double> outputs_of(const ExportedModel& model, const std::vector<double>& inputs) {
  std::vector<Tensor> weights;
  for (const Tensor& weight : model.weights()) weights.push_back(weight.to(dtype_of<T>));
  const Tensor table = model.table.empty() ? Tensor() : model.table.to(dtype_of<T>);
  Window start;
  for (const ExportedLayer& layer : model.layers)
    for (std::size_t s = 0; s < layer.start.size(); ++s) {
      const bool on_grid = layer.program.states[s].arithmetic == Arithmetic::grid;
      start.states.push_back(on_grid ? layer.start[s] : layer.start[s].to(dtype_of<T>));
    }
  Stream<T> stream(model.stack, weights, 1, best_level(), table, model.normalization, start);
  const std::vector<T> in(inputs.begin(), inputs.end());
  std::vector<T> out(kSteps * model.output_width());
  stream.block(in.data(), out.data(), kSteps);
  return {out.begin(), out.end()};
}

/// How far an output may be off, as a part of the largest of them.
double tolerance(const CStyle& style) {
  if (style.vectors == CWeights::int8) return 0.2;
  if (style.vectors == CWeights::int16 || style.fast_functions) return 1e-3;
  return style.dtype == Dtype::f32 ? 5e-5 : 1e-10;  // quotients of states, as in mlstm, amplify rounding
}

struct Example {
  std::vector<double> inputs, outputs;
};

/// Inputs with outputs that are finite. A model whose inputs have bounds, such as the time of a step, knows these as numbers
/// of its first layer: where ordinary inputs are beyond them, those just below such a number are tried.
Example example_of(const ExportedModel& model, Dtype dtype) {
  const auto with = [&](std::vector<double> inputs) {
    std::vector<double> outputs =
        dtype == Dtype::f32 ? outputs_of<float>(model, inputs) : outputs_of<double>(model, inputs);
    return Example{std::move(inputs), std::move(outputs)};
  };
  const auto is_finite = [](const Example& example) {
    return std::ranges::all_of(example.outputs, [](double value) { return std::isfinite(value); });
  };
  Example example = with(inputs_of(model, dtype));
  if (is_finite(example)) return example;
  constexpr double kBelow = 5e-4, kVaries = 1e-4;
  if (model.table.empty() && !model.layers.empty())
    for (const Instruction& v : model.layers.front().program.values) {
      if (v.op != StepOp::constant || !(v.value > 0)) continue;
      std::vector<double> near = inputs_of(model, dtype);
      for (double& value : near) value = v.value * (1 - kBelow + kVaries * std::tanh(value));
      if (example = with(std::move(near)); is_finite(example)) return example;
    }
  throw InputError({.op = "export"}, Rule::not_finite,
                   "the model's outputs for ordinary inputs are not finite");
}

}  // namespace

std::string c_self_test(const ExportedModel& model, const CStyle& style) {
  const auto [inputs, outputs] = example_of(model, style.dtype);
  double largest = 0;
  for (const double value : outputs) largest = std::max(largest, std::abs(value));
  const std::string type = c_type(style.dtype), &name = style.name;
  std::string text = text_of("\n#ifdef ", name, "_SELF_TEST\n");
  text += c_array(name + "_test_in", inputs, style.dtype);
  text += c_array(name + "_test_out", outputs, style.dtype);
  text += text_of("\nint ", name, "_self_test(void) {\n  static ", name, "_state state;\n  ", name,
                  "_init(&state);\n  for (int n = 0; n < ", kSteps, "; ++n) {\n    ", type, " out[", name,
                  "_OUTPUTS];\n    ", name, "_step(&state, ", name, "_test_in + n * ", name,
                  "_INPUTS, out);\n    for (int i = 0; i < ", name, "_OUTPUTS; ++i) {\n      const ", type,
                  " error = out[i] - ", name, "_test_out[n * ", name, "_OUTPUTS + i];\n      if (!(",
                  c_function("fabs", style.dtype),
                  "(error) <= ", c_number(tolerance(style) * std::max(largest, 1e-30), style.dtype),
                  ")) return n + 1;\n    }\n  }\n  return 0;\n}\n#endif\n");
  return text;
}

}  // namespace lagtape
