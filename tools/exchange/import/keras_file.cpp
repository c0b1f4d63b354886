#include "lagtape/tools/exchange/import/keras_file.h"

#include <map>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/hdf5.h"
#include "lagtape/tools/exchange/files/json_tensor.h"
#include "lagtape/tools/exchange/files/stored_zip.h"
#include "lagtape/tools/exchange/import/keras_layer.h"
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

}  // namespace

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
