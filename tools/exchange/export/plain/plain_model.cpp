#include "lagtape/tools/exchange/export/plain/plain_model.h"

#include <algorithm>
#include <optional>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/export/fixed_values.h"

namespace lagtape {
namespace {

/// Whether the layer gives its input outside of training.
bool does_nothing(const ExportedLayer& layer) {
  const auto& values = layer.program.values;
  const auto is_input = [&](int id) { return values[id].op == StepOp::input; };
  if (!layer.program.states.empty()) return false;
  if (is_input(layer.program.output)) return true;
  const Instruction& v = values[layer.program.output];
  if (!v.computes(ElementOp::multiply)) return false;
  const auto fixed = fixed_values(layer);
  const auto is_one = [&](int id) {
    return !fixed[id].empty() && std::ranges::all_of(fixed[id], [](double value) { return value == 1; });
  };
  return (is_input(v.a) && is_one(v.b)) || (is_one(v.a) && is_input(v.b));
}

/// A weight of the layer; a bias that it does not have is added to it, as zeros.
Tensor& weight_named(ExportedLayer& layer, const std::string& name, std::int64_t units) {
  auto& weights = layer.program.weights;
  const auto found = std::ranges::find(weights, name, &WeightDefinition::name);
  if (found != weights.end()) return layer.weights[found - weights.begin()];
  weights.push_back({name, {units}});
  return layer.weights.emplace_back(Tensor({units}, Dtype::f64));
}

/// U @ ((x - mean) / scale) + b = (U / scale) @ x + (b - (U / scale) @ mean), for each product with the
/// layer's input.
void take_in_input(const Scaling& scaling, ExportedLayer& layer, bool is_affine) {
  if (scaling.empty()) return;
  const std::vector<WeightDefinition> weights = layer.program.weights;
  for (const WeightDefinition& weight : weights) {
    if (weight.shape.size() != 2 || !(is_affine || weight.name.starts_with("U"))) continue;
    const std::int64_t out = weight.shape[0], in = weight.shape[1];
    Tensor bias = weight_named(layer, weight.name + ".bias", out), U = weight_named(layer, weight.name, out);
    for (std::int64_t i = 0; i < out * in; ++i) {
      U.set(i, U.at(i) / scaling.scale[i % in]);
      bias.set(i / in, bias.at(i / in) - U.at(i) * scaling.mean[i % in]);
    }
  }
}

/// (W @ h + b) * scale + mean.
void take_in_output(const Scaling& scaling, ExportedLayer& layer) {
  if (scaling.empty()) return;
  const std::int64_t out = std::ssize(scaling.scale);
  Tensor bias = weight_named(layer, "W.bias", out), W = weight_named(layer, "W", out);
  const std::int64_t in = W.size(1);
  for (std::int64_t i = 0; i < W.numel(); ++i) W.set(i, W.at(i) * scaling.scale[i / in]);
  for (std::int64_t i = 0; i < out; ++i) bias.set(i, bias.at(i) * scaling.scale[i] + scaling.mean[i]);
}

bool has(const PlainFormat& format, const GatedLayer& layer) {
  return std::ranges::find(format.cells, layer.cell) != format.cells.end() &&
         (layer.function.empty() || format.has_functions) && (!layer.resets_before || format.resets_before);
}

/// The layers as cells of other programs. Throws InputError.
std::vector<GatedLayer> plain_layers(const ExportedModel& model, const PlainFormat& format,
                                     const std::vector<std::string>& names) {
  std::vector<GatedLayer> layers;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    if (does_nothing(model.layers[l])) continue;
    const std::optional<GatedLayer> layer = gated_layer(model.layers[l]);
    if (layer && has(format, *layer)) {
      layers.push_back(*layer);
      continue;
    }
    throw InputError(
        {.op = "export"}, Rule::not_supported,
        text_of("layer ", l, " (", names[l], ") is none that ", format.name, " has: ", listed(format.cells),
                ", with their default options. The formats onnx and c99 take every layer"));
  }
  layers.push_back(*gated_layer(*model.readout));
  return layers;
}

}  // namespace

PlainModel plain_model(const Model& model, const PlainFormat& format) {
  if (model.tokens() > 0)
    throw InputError({.op = "export"}, Rule::not_supported,
                     text_of(format.name, " takes a model of numbers, and this one is of tokens"));
  if (model.loss().distribution() != nullptr)
    throw InputError(
        {.op = "export"}, Rule::not_supported,
        text_of(format.name, " takes a model with an affine read-out, and this one gives parameters of ",
                "distributions. The formats onnx and c99 take it"));
  PlainModel plain{std::make_unique<ExportedModel>(
                       format.has_start ? exported(model) : exported_from_zeros(model, format.name)),
                   {}};
  ExportedModel& content = *plain.content;
  const auto in_double = [](ExportedLayer& layer) {
    for (Tensor& weight : layer.weights) weight = weight.to(Dtype::f64).clone();
  };
  std::ranges::for_each(content.layers, in_double);
  in_double(*content.readout);
  plain.layers = plain_layers(content, format, model.layer_names());
  const GatedLayer& first = plain.layers.front();
  for (ExportedLayer& layer : content.layers)
    if (&layer == first.layer) take_in_input(content.normalization.input, layer, first.cell == "linear");
  if (first.layer == &*content.readout) take_in_input(content.normalization.input, *content.readout, true);
  take_in_output(content.normalization.output, *content.readout);
  return plain;
}

}  // namespace lagtape
