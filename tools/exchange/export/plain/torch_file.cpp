#include "lagtape/tools/exchange/export/plain/torch_file.h"

#include <map>

#include "lagtape/cells/models/model_definition.h"
#include "lagtape/core/error.h"
#include "lagtape/core/io/safetensors.h"
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

/// Writes the tensors of a model's modules.
class TorchWriter {
 public:
  explicit TorchWriter(Dtype dtype) : dtype_(dtype) {}

  SafetensorsFile write(const std::vector<GatedLayer>& layers) {
    for (std::size_t l = 0; l < layers.size();) {
      const GatedLayer& first = layers[l];
      std::size_t end = l + 1;
      const auto goes_on = [&](const GatedLayer& next) {
        return first.cell != "linear" && next.cell == first.cell && next.units == first.units;
      };
      while (end < layers.size() && goes_on(layers[end])) ++end;
      const auto count = static_cast<std::int64_t>(end - l);
      for (std::int64_t i = 0; i < count; ++i) add_layer(layers[l + static_cast<std::size_t>(i)], i);
      describe(first, count);
      l = end;
      ++module_;
    }
    file_.metadata["modules"] = description_;
    return file_;
  }

 private:
  void add(const std::string& name, const Tensor& tensor) {
    file_.tensors.push_back({text_of(module_, ".", name), tensor.to(dtype_)});
  }

  void add_layer(const GatedLayer& layer, std::int64_t number) {
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

  void describe(const GatedLayer& layer, std::int64_t count) {
    const bool is_linear = layer.cell == "linear";
    description_ += text_of(module_ > 0 ? ", " : "", is_linear ? "Linear" : kCells.at(layer.cell).module, " ",
                            layer.input, " ", layer.units, is_linear ? "" : text_of(" ", count));
  }

  Dtype dtype_;
  SafetensorsFile file_;
  std::string description_;
  int module_ = 0;
};

}  // namespace

std::string torch_file(const Model& model) {
  const PlainModel plain = plain_model(model, {"PyTorch", {"lstm", "gru", "rnn", "linear"}});
  SafetensorsFile file = TorchWriter(model.dtype()).write(plain.layers);
  file.metadata["format"] = "pt";
  file.metadata["read"] = std::string(name_of(model.at()));
  return serialize_safetensors(file);
}

}  // namespace lagtape
