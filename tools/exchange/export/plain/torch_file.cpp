#include "lagtape/tools/exchange/export/plain/torch_file.h"

#include <algorithm>
#include <map>
#include <span>

#include "lagtape/cells/models/model_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/plain_arithmetic.h"
#include "lagtape/tools/exchange/export/plain/plain_model.h"

namespace lagtape {
namespace {

struct TorchCell {
  std::string module;
  std::vector<std::string> gates;  ///< in PyTorch's order, as the cell names them
};

const std::map<std::string_view, TorchCell> kCells = {{"lstm", {"LSTM", {"_i", "_f", "_g", "_o"}}},
                                                      {"gru", {"GRU", {"_r", "_z", "_n"}}},
                                                      {"rnn", {"RNN", {""}}}};

/// How many of the layers, from the first, are one module: a map, or recurrences of one cell and size.
std::size_t layers_of_module(std::span<const GatedLayer> layers) {
  const GatedLayer& first = layers.front();
  const auto begins_another = [&](const GatedLayer& layer) {
    return layer.cell == "linear" || layer.cell != first.cell || layer.units != first.units;
  };
  return std::ranges::find_if(layers.begin() + 1, layers.end(), begins_another) - layers.begin();
}

/// Adds the tensors of layer `number` of a module.
void add_layer(SafetensorsFile& file, int module, std::size_t number, const GatedLayer& layer, Dtype dtype) {
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    file.tensors.push_back({text_of(module, ".", name), tensor.to(dtype)});
  };
  if (layer.cell == "linear") {
    add("weight", layer.weight("W"));
    return add("bias", layer.weight("W.bias"));
  }
  const std::vector<std::string>& gates = kCells.at(layer.cell).gates;
  const std::string end = text_of("_l", number);
  add("weight_ih" + end, layer.stacked("U", gates));
  add("weight_hh" + end, layer.stacked("W", gates));
  add("bias_ih" + end, layer.stacked("U", gates, ".bias"));
  add("bias_hh" + end, layer.stacked("W", gates, ".bias"));
}

/// "LSTM 3 64 2" for inputs, units and layers; "Linear 64 1".
std::string description_of(const GatedLayer& layer, std::size_t count) {
  if (layer.cell == "linear") return text_of("Linear ", layer.input, " ", layer.units);
  return text_of(kCells.at(layer.cell).module, " ", layer.input, " ", layer.units, " ", count);
}

}  // namespace

std::string torch_file(const Model& model) {
  const PlainArithmetic arithmetic;
  const PlainModel plain = plain_model(model, {"PyTorch", {"lstm", "gru", "rnn", "linear"}});
  SafetensorsFile file;
  std::span<const GatedLayer> layers = plain.layers;
  for (int module = 0; !layers.empty(); ++module) {
    const std::size_t count = layers_of_module(layers);
    for (std::size_t i = 0; i < count; ++i) add_layer(file, module, i, layers[i], model.dtype());
    file.metadata["modules"] += text_of(module > 0 ? ", " : "", description_of(layers.front(), count));
    layers = layers.subspan(count);
  }
  file.metadata["format"] = "pt";
  file.metadata["read"] = std::string(name_of(model.at()));
  return serialize_safetensors(file);
}

}  // namespace lagtape
