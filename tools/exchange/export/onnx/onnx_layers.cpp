#include "lagtape/tools/exchange/export/onnx/onnx_layers.h"

#include <vector>

#include "lagtape/core/error.h"
#include "lagtape/tools/exchange/export/onnx/onnx_step.h"

namespace lagtape {
namespace {

using Names = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

std::int64_t output_width(const ExportedLayer& layer) {
  return layer.program.values[layer.program.output].shape.width();
}

/// The shape of the first `count` axes of a value, followed by more extents.
std::string shape_like(OnnxWriter& graph, const std::string& value, std::int64_t count,
                       const Integers& more) {
  const std::string first =
      graph.node("Shape", {value}, OnnxAttributes().integer("start", 0).integer("end", count));
  Names parts = {first};
  for (const std::int64_t extent : more) parts.push_back(graph.integers({extent}));
  return graph.node("Concat", parts, OnnxAttributes().integer("axis", 0));
}

/// Changes [batch, time, ..] to [time, batch, ..] and back.
std::string swapped(OnnxWriter& graph, const std::string& x) {
  return graph.node("Transpose", {x}, OnnxAttributes().integers("perm", Integers{1, 0, 2}));
}

struct OnnxCell {
  std::string operation;
  Names gates;  ///< in the order of ONNX, as the cell names them
};

OnnxCell onnx_cell(const GatedLayer& layer) {
  if (layer.cell == "lstm") return {"LSTM", {"_i", "_o", "_f", "_g"}};
  if (layer.cell == "gru") return {"GRU", {"_z", "_r", "_n"}};
  return {"RNN", {""}};
}

}  // namespace

bool has_independent_steps(const ExportedLayer& layer) { return onnx_states(layer, Dtype::f32).empty(); }

std::string add_rows(OnnxWriter& graph, const ExportedLayer& layer, const std::string& x, Dtype dtype) {
  const std::int64_t input = layer.program.input.width();
  const std::string rows = graph.node("Reshape", {x, graph.integers({-1, input})});
  const std::string y = add_step(graph, layer, rows, {}, dtype).output;
  return graph.node("Reshape", {y, shape_like(graph, x, 2, {output_width(layer)})});
}

std::string add_recurrence(OnnxWriter& graph, const GatedLayer& layer, const std::string& x) {
  const auto [operation, gates] = onnx_cell(layer);
  const std::int64_t rows = std::ssize(gates) * layer.units;
  const std::string& name = layer.layer->name;
  const auto matrix = [&, &gates = gates](const std::string& letter, const std::string& wished,
                                          std::int64_t in) {
    return graph.constant(text_of(name, ".", wished), layer.stacked(letter, gates).reshaped({1, rows, in}));
  };
  const std::string W = matrix("U", "W", layer.input), R = matrix("W", "R", layer.units);
  Tensor both({1, 2 * rows}, layer.layer->weights.front().dtype());
  for (std::int64_t i = 0; i < rows; ++i) {
    both.set(i, layer.stacked("U", gates, ".bias").at(i));
    both.set(rows + i, layer.stacked("W", gates, ".bias").at(i));
  }
  OnnxAttributes attributes;
  attributes.integer("hidden_size", layer.units);
  if (layer.cell == "gru") attributes.integer("linear_before_reset", layer.resets_before ? 0 : 1);
  const std::string y = graph.node(operation, {swapped(graph, x), W, R, graph.constant(name + ".B", both)},
                                   attributes, text_of(name, ".", operation));
  return swapped(graph, graph.node("Squeeze", {y, graph.integers({1})}));
}

std::string add_scan(OnnxWriter& graph, std::span<const ExportedLayer> layers, const std::string& x,
                     Dtype dtype) {
  OnnxWriter body(text_of("a step of ", layers.front().name), graph);
  Names inputs, outputs, after;
  std::vector<OnnxState> all;
  const std::string step_input = graph.unique(layers.front().name + ".x");
  std::string y = step_input;
  const double zero = 0;
  std::vector<Names> before;
  for (const ExportedLayer& layer : layers) {
    before.emplace_back();
    for (const OnnxState& state : onnx_states(layer, dtype)) {
      const std::size_t s = before.back().size();
      const std::string begin =
          s < layer.start.size()
              ? graph.constant(state.name + ".start", layer.start[s].reshaped(state.extents))
              : graph.numbers({}, {&zero, 1}, state.dtype, "zero");
      inputs.push_back(graph.node("Expand", {begin, shape_like(graph, x, 1, state.extents)}));
      outputs.push_back(graph.unique(state.name + ".last"));
      before.back().push_back(graph.unique(state.name));
      body.input(before.back().back(), onnx_type(state.dtype), state.shape());
      all.push_back(state);
    }
  }
  body.input(step_input, onnx_type(dtype), {"batch", layers.front().program.input.width()});
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const OnnxStep step = add_step(body, layers[l], y, before[l], dtype);
    after.insert(after.end(), step.states.begin(), step.states.end());
    y = step.output;
  }
  for (std::size_t s = 0; s < all.size(); ++s) body.output(after[s], onnx_type(all[s].dtype), all[s].shape());
  body.output(y, onnx_type(dtype), {"batch", output_width(layers.back())});

  inputs.push_back(x);
  outputs.push_back(graph.unique(layers.back().name + ".outputs"));
  OnnxAttributes attributes;
  attributes.graph("body", body).integer("num_scan_inputs", 1);
  attributes.integers("scan_input_axes", Integers{1}).integers("scan_output_axes", Integers{1});
  graph.node("Scan", inputs, outputs, attributes);
  return outputs.back();
}

}  // namespace lagtape
