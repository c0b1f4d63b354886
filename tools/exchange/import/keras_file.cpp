#include "lagtape/tools/exchange/import/keras_file.h"

#include <map>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/hdf5.h"
#include "lagtape/tools/exchange/files/json_tensor.h"
#include "lagtape/tools/exchange/files/stored_zip.h"
#include "lagtape/tools/exchange/import/keras_json.h"
#include "lagtape/tools/exchange/import/keras_layer.h"
#include "lagtape/tools/exchange/import/module_order.h"
#include "lagtape/tools/exchange/import/step_layers.h"

namespace lagtape::foreign {
namespace {

/// "simple_rnn" of "SimpleRNN", "lstm" of "LSTM", "time_distributed" of "TimeDistributed": Keras's names of weights.
std::string snake_case(const std::string& type) {
  const auto is_upper = [&](std::size_t i) { return i < type.size() && type[i] >= 'A' && type[i] <= 'Z'; };
  const auto is_lower = [&](std::size_t i) { return i < type.size() && !is_upper(i); };
  std::string name;
  for (std::size_t i = 0; i < type.size(); ++i) {
    if (i > 0 && is_upper(i) && (is_lower(i + 1) || is_lower(i - 1))) name += '_';
    name += is_upper(i) ? static_cast<char>(type[i] - 'A' + 'a') : type[i];
  }
  return name;
}

/// The numbers of a tensor from an axis on as nested arrays.
Json json_of(const Tensor& tensor, std::size_t axis, std::int64_t row) {
  Json list = Json::array();
  const std::int64_t extent = tensor.shape()[axis];
  for (std::int64_t i = 0; i < extent; ++i)
    list.push_back(axis + 1 == tensor.shape().size() ? Json(tensor.at(row * extent + i))
                                                     : json_of(tensor, axis + 1, row * extent + i));
  return list;
}

/// Follows the layers of a configuration.
class KerasReader {
 public:
  KerasReader(const Json& root, TensorReader weights, bool is_double, const std::string& where)
      : root_(root), weights_(std::move(weights)), where_(where) {
    model_.format = "keras";
    if (is_double) model_.precision = Dtype::f64;
  }

  ForeignModel read() {
    const Place place{.file = where_, .item = "config.json"};
    const std::string type = text_at(root_, "class_name", place);
    if (type != "Sequential" && type != "Functional")
      throw unexpected(place, Rule::not_supported, "a Sequential or Functional model", quote(type),
                       "Export a model of a class of its own to ONNX.");
    const Json& config = object_at(root_, "config", place);
    const Json& layers = array_at(config, "layers", place);
    for (const Json& layer : layers) add(layer, type == "Sequential");
    if (made_.empty()) throw InputError(place, Rule::missing, "there are no layers.");
    const std::string last = type == "Sequential" ? last_ : output_of(config, place);
    const KerasValue& output = made_.at(last);
    weights_.finish();
    if (output.is_last) model_.at = ReadAt::last_step;
    add_layers(model_, graph_, output.value, where_);
    return std::move(model_);
  }

 private:
  void add(const Json& layer, bool is_chain) {
    if (!layer.is_object())
      throw unexpected({.file = where_, .item = "config.json"}, Rule::wrong_type, "layers as objects");
    KerasLayerEntry entry;
    entry.place = {.file = where_, .item = "layers"};
    entry.type = text_at(layer, "class_name", entry.place);
    entry.config = object_at(layer, "config", entry.place);
    const std::string name = text_at(entry.config, "name", entry.place);
    entry.place.item = name;
    const std::string stem = snake_case(entry.type);
    const int number = counts_[stem]++;
    entry.path = number == 0 ? text_of("layers/", stem) : text_of("layers/", stem, "_", number);
    const bool is_new = !made_.contains(name);
    if (!is_new) throw InputError(entry.place, Rule::conflict, "is there twice.");
    if (entry.type == "InputLayer") {
      made_[name] = input_of(entry);
    } else {
      std::vector<KerasValue> inputs;
      if (is_chain) {
        if (made_.empty())
          throw InputError(entry.place, Rule::missing,
                           "the model has no input shape. Build it before it is saved.");
        inputs.push_back(made_.at(last_));
      } else {
        for (const std::string& below : names_below(layer, entry.place)) inputs.push_back(made_.at(below));
      }
      made_[name] = keras_output(entry, inputs, weights_, graph_, model_.notes);
    }
    last_ = name;
  }

  KerasValue input_of(const KerasLayerEntry& entry) {
    if (model_.input > 0)
      throw InputError(entry.place, Rule::not_supported, "is a second input. Supported: one.");
    const char* key = entry.config.contains("batch_shape") ? "batch_shape" : "batch_input_shape";
    const Json& shape = array_at(entry.config, key, entry.place);
    if (shape.size() != 2 && shape.size() != 3)
      throw unexpected(entry.place, Rule::shape, "an input of batch, time and numbers", shape.dump());
    const Json width = shape.size() == 2 ? Json(1) : shape[2];
    if (!width.is_number_integer() || width.get<double>() < 1 || width.get<double>() > 1 << 16)
      throw unexpected(entry.place, Rule::shape, "an input whose last axis is given", shape.dump());
    model_.input = width.get<std::int64_t>();
    return {graph_.add({.kind = StepKind::input, .width = model_.input}), false};
  }

  /// The layer of "keras_history" [name, call, output].
  std::string layer_of(const Json& history, const Place& place) const {
    if (!history.is_array() || history.size() != 3 || !history[0].is_string() ||
        !history[1].is_number_integer() || !history[2].is_number_integer())
      throw unexpected(place, Rule::wrong_type, "inputs as Keras 3 writes them", history.dump());
    if (history[1].get<double>() != 0 || history[2].get<double>() != 0)
      throw InputError(place, Rule::not_supported, "reads a layer that is called twice, or a second output.");
    std::string name = history[0].get<std::string>();
    if (!made_.contains(name))
      throw InputError(place, Rule::missing,
                       text_of("reads the layer ", quote(name), ", which does not come before it."));
    return name;
  }

  void add_names(const Json& value, const Place& place, std::vector<std::string>& names) const {
    if (value.is_array())
      for (const Json& part : value) add_names(part, place, names);
    if (!value.is_object() || !value.contains("config")) return;
    const Json& config = object_at(value, "config", place);
    if (config.contains("keras_history"))
      names.push_back(layer_of(array_at(config, "keras_history", place), place));
  }

  /// The layers that a layer of a Functional model reads.
  std::vector<std::string> names_below(const Json& layer, const Place& place) const {
    const Json& nodes = array_at(layer, "inbound_nodes", place);
    if (nodes.size() != 1 || !nodes[0].is_object())
      throw InputError(place, Rule::not_supported,
                       "is called several times, or is of an earlier Keras. Supported: once, by Keras 3.");
    std::vector<std::string> names;
    add_names(array_at(nodes[0], "args", place), place, names);
    const Json* options = nodes[0].find("kwargs");
    if (options != nodes[0].end() && options->is_object())
      for (const auto& [key, value] : options->items()) {
        std::vector<std::string> others;
        add_names(value, place, others);
        if (!value.is_array() && others.empty() && !value.is_object()) continue;
        if (!others.empty())
          throw InputError(place, Rule::not_supported, text_of("reads a layer as its option ", key, "."));
      }
    return names;
  }

  std::string output_of(const Json& config, const Place& place) const {
    const Json* outputs = &array_at(config, "output_layers", place);
    if (outputs->size() == 1 && (*outputs)[0].is_array()) outputs = &(*outputs)[0];
    return layer_of(*outputs, place);
  }

  const Json& root_;
  TensorReader weights_;
  const std::string& where_;
  ForeignModel model_ = {};
  StepGraph graph_;
  std::map<std::string, KerasValue> made_;  ///< by the names of layers
  std::map<std::string, int> counts_;
  std::string last_;
};

constexpr const char* kSaveAll = "Save the model as a whole: model.save(\"model.keras\").";

/// The arrays of a layer of weights alone, by the ends of their paths.
using LayerArrays = std::map<std::string, Tensor>;

/// "lstm_1" as what says where it comes: "lstm.1" comes behind "lstm.0".
std::string numbered(const std::string& name) {
  const std::size_t bar = name.rfind('_');
  const bool is_number =
      bar != std::string::npos && name.find_first_not_of("0123456789", bar + 1) == std::string::npos;
  return is_number && bar + 1 < name.size() ? text_of(name.substr(0, bar), ".", name.substr(bar + 1))
                                            : name + ".0";
}

/// A layer as RTNeural writes those of Keras (keras_json.h).
Json plain_layer(const std::string& name, const LayerArrays& arrays, const Place& place) {
  const std::string stem = numbered(name).substr(0, numbered(name).rfind('.'));
  const bool is_dense = stem == "dense";
  if (!is_dense && stem != "lstm" && stem != "gru")
    throw InputError(place, Rule::not_supported, "is supported for layers lstm, gru and dense alone.", {},
                     kSaveAll);
  Json weights = Json::array();
  const std::string folder = is_dense ? "vars/" : "cell/vars/";
  for (int i = 0; arrays.contains(folder + std::to_string(i)); ++i)
    weights.push_back(json_of(arrays.at(folder + std::to_string(i)), 0, 0));
  if (weights.size() != arrays.size() || weights.empty() || !weights[0].is_array() ||
      !weights[0][0].is_array())
    throw InputError(place, Rule::not_supported, text_of("has other weights than a layer ", stem, " has."),
                     {}, kSaveAll);
  const Tensor& last = arrays.at(folder + (is_dense ? "0" : "1"));
  const std::int64_t units = is_dense ? last.size(last.rank() - 1) : last.size(0);
  return {{"type", stem}, {"shape", Json::array({Json(), Json(), units})}, {"weights", weights}};
}

}  // namespace

ForeignModel read_keras_weights(std::string_view bytes, const std::vector<std::string>& order,
                                const std::string& where) {
  std::map<std::string, LayerArrays> layers;
  bool is_double = false;
  for (const auto& [path, tensor] : read_hdf5(bytes, where)) {
    const std::size_t begin = path.find('/'), end = path.find('/', begin + 1);
    if (!path.starts_with("layers/") || end == std::string::npos || tensor.rank() == 0)
      throw InputError({.file = where, .item = text_of("array ", quote(path))}, Rule::not_supported,
                       "is no weight of a layer of Keras 3.", {}, kSaveAll);
    layers[path.substr(begin + 1, end - begin - 1)].emplace(path.substr(end + 1), tensor);
    is_double = is_double || tensor.dtype() == Dtype::f64;
  }
  std::vector<Module> modules;
  for (const auto& [name, arrays] : layers) {
    const Json layer = plain_layer(name, arrays, {.file = where, .item = text_of("layer ", quote(name))});
    const std::int64_t input = std::ssize(layer["weights"][0]);
    const Json root = {{"in_shape", Json::array({Json(), Json(), input})}, {"layers", Json::array({layer})}};
    ForeignModel part = read_keras_json(root, text_of(where, ": layer ", quote(name)));
    part.layers[0].place = text_of("layer ", quote(name));
    modules.push_back({order.empty() ? numbered(name) : name, input, width_after(part.layers[0], input),
                       layer["type"].get<std::string>() != "dense", std::move(part.layers)});
  }
  ForeignModel model{.format = "keras-weights", .precision = is_double ? Dtype::f64 : Dtype::f32};
  for (Module& module : in_order(std::move(modules), false, order, where)) {
    if (model.layers.empty()) model.input = module.input;
    model.layers.push_back(std::move(module.layers[0]));
  }
  model.notes.push_back(
      text_of("Weights alone do not say what functions layers have: an LSTM and a GRU have those of Keras, a "
              "Dense layer none, "
              "and all steps are given. ",
              kSaveAll));
  return model;
}

ForeignModel read_keras(std::string_view bytes, const std::string& where) {
  const std::map<std::string, std::string_view> entries = stored_entries(bytes, where);
  const auto config = entries.find("config.json"), weights = entries.find("model.weights.h5");
  if (config == entries.end() || weights == entries.end())
    throw InputError({where}, Rule::wrong_type, "is a zip archive, but no file of Keras 3.");
  const Json root = parse_json(std::string(config->second), where + ": config.json");
  if (!root.is_object()) throw unexpected({where + ": config.json"}, Rule::wrong_type, "a JSON object");
  const std::string place = where + ": model.weights.h5";
  SafetensorsFile file;
  bool is_double = false;
  for (const auto& [path, tensor] : read_hdf5(weights->second, place)) {
    if (path.starts_with("optimizer/")) continue;
    is_double = is_double || tensor.dtype() == Dtype::f64;
    file.tensors.push_back({path, tensor.to(Dtype::f64)});
  }
  return KerasReader(root, TensorReader(std::move(file), place), is_double, where).read();
}

}  // namespace lagtape::foreign
