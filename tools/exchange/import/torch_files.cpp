#include "lagtape/tools/exchange/import/torch_files.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/files/json_tensor.h"
#include "lagtape/tools/exchange/files/torch_archive.h"
#include "lagtape/tools/exchange/import/state_dict.h"
#include "lagtape/tools/exchange/import/state_dict_names.h"

namespace lagtape::foreign {
namespace {

StateDict dict_of(const Json& tensors, const Place& place) {
  StateDict dict{.file = {}, .in_order = true};
  for (const auto& [name, value] : tensors.items())
    dict.file.tensors.push_back({name, tensor_of(value, part_of(place, name))});
  return dict;
}

/// Throws InputError unless the weights are what "model_data" says.
void check_model_data(const Json& data, const ForeignModel& model, const Place& place) {
  const std::string unit = text_at(data, "unit_type", place);
  const std::int64_t hidden = count_at(data, "hidden_size", place),
                     input = count_at(data, "input_size", place),
                     output = count_at(data, "output_size", place),
                     layers = data.contains("num_layers") ? count_at(data, "num_layers", place) : 1;
  const auto refuse = [&](const std::string& key, const auto& said, const auto& found) {
    throw unexpected(part_of(place, key), Rule::conflict, text_of(found, ", as the weights have"),
                     text_of(said));
  };
  const auto* rec = std::get_if<ForeignRecurrence>(&model.layers.front().content);
  const auto* lin = std::get_if<ForeignDense>(&model.layers.back().content);
  if (rec == nullptr || lin == nullptr || rec->directions.size() > 1)
    throw InputError(part_of(place, "model"), Rule::not_supported,
                     "SimpleRNN is a recurrence 'rec' in one direction and a map 'lin'.");
  const ForeignCell& cell = rec->directions.front();
  std::string kind(name_of(cell.kind));
  std::ranges::transform(kind, kind.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  if (unit != kind) refuse("unit_type", unit, kind);
  if (hidden != cell.units) refuse("hidden_size", hidden, cell.units);
  if (input != cell.input) refuse("input_size", input, cell.input);
  if (layers != std::ssize(model.layers) - 1) refuse("num_layers", layers, model.layers.size() - 1);
  if (output != lin->W.size(0)) refuse("output_size", output, lin->W.size(0));
  const bool bias = !lin->bias.empty();
  const Json* said = data.find("bias_fl");
  if (said != data.end() && said->is_boolean() && said->get<bool>() != bias)
    refuse("bias_fl", said->get<bool>() ? "true" : "false",
           bias ? "a map with a bias" : "a map without a bias");
}

ForeignModel model_of_dict(StateDict& dict, const std::vector<std::string>& order, const std::string& where) {
  ForeignModel model{.format = "torch"};
  for (NamedTensor& entry : dict.file.tensors) {
    if (entry.tensor.dtype() == Dtype::f64) model.precision = Dtype::f64;
    entry.tensor = entry.tensor.to(Dtype::f64);
  }
  make_plain(dict.file.tensors, model.notes);
  model.layers = layers_of(dict, order, where);
  model.input = input_of(model.layers, where);
  return model;
}

}  // namespace

ForeignModel read_torch_file(std::string_view bytes, const std::vector<std::string>& order,
                             const std::string& where) {
  std::vector<std::string> notes;
  StateDict dict{.file = {.metadata = {}, .tensors = read_torch_archive(bytes, where, notes)},
                 .in_order = true};
  ForeignModel model = model_of_dict(dict, order, where);
  model.notes.insert(model.notes.begin(), notes.begin(), notes.end());
  return model;
}

std::int64_t input_of(const std::vector<ForeignLayer>& layers, const std::string& where) {
  if (layers.empty()) throw InputError({where}, Rule::missing, "there are no tensors.");
  const ForeignLayer& first = layers.front();
  if (const auto* entry = std::get_if<ForeignEntry>(&first.content)) return entry->input;
  if (const auto* recurrence = std::get_if<ForeignRecurrence>(&first.content))
    return recurrence->directions.front().input;
  const Tensor& W = std::get<ForeignDense>(first.content).W;
  if (W.empty())
    throw InputError({.file = where, .item = first.place}, Rule::not_supported,
                     "is a function, and no weights below it say how many numbers a step has.");
  return W.size(1);
}

ForeignModel read_torch(std::string_view bytes, const std::vector<std::string>& order,
                        const std::string& where) {
  StateDict dict{.file = parse_safetensors(bytes, where, HalfTensors::widened), .in_order = false};
  if (const auto format = dict.file.metadata.find("format");
      format != dict.file.metadata.end() && format->second.starts_with("lagtape"))
    throw InputError({where}, Rule::conflict, "is a model of lagtape already", {},
                     "Every command takes it as it is.");
  ForeignModel model = model_of_dict(dict, order, where);
  if (const auto function = dict.file.metadata.find("nonlinearity"); function != dict.file.metadata.end())
    set_nonlinearity(model, function->second, where + ": metadata");
  return model;
}

void set_nonlinearity(ForeignModel& model, const std::string& function, const std::string& where) {
  if (function != "tanh" && function != "relu")
    throw InputError(unknown_name("nonlinearity", function, {"tanh", "relu"}).within({where}));
  bool found = false;
  for (ForeignLayer& layer : model.layers)
    if (auto* recurrence = std::get_if<ForeignRecurrence>(&layer.content))
      for (ForeignCell& cell : recurrence->directions)
        if (cell.kind == CellKind::rnn) {
          cell.input_function = function;
          found = true;
        }
  if (!found)
    throw InputError({where}, Rule::conflict, "the nonlinearity is that of nn.RNN, and there is none.");
}

const std::vector<std::string>& functions_between_maps() {
  static const std::vector<std::string> names = {"relu", "tanh",       "sigmoid",  "elu", "gelu",
                                                 "silu", "leaky_relu", "softplus", "none"};
  return names;
}

void set_between(ForeignModel& model, const std::string& function, const std::string& where) {
  const auto plain_map = [](ForeignLayer& layer) {
    auto* map = std::get_if<ForeignDense>(&layer.content);
    return map != nullptr && !map->W.empty() && map->function.empty() ? map : nullptr;
  };
  std::string found;
  for (std::size_t i = 0; i + 1 < model.layers.size(); ++i) {
    ForeignDense* map = plain_map(model.layers[i]);
    if (map == nullptr || plain_map(model.layers[i + 1]) == nullptr) continue;
    found += text_of(found.empty() ? "" : ", ", model.layers[i].place, " and ", model.layers[i + 1].place);
    if (function != "none") map->function = function;
  }
  if (!function.empty() && found.empty())
    throw InputError({where}, Rule::conflict,
                     "--between is for maps that follow each other, and there are none.");
  if (function.empty() && !found.empty())
    model.notes.push_back(
        text_of("Linear maps follow each other without a function: ", shortened(found, 200),
                ". A state_dict does not say what is between them. Give --between relu, or another one of ",
                listed(functions_between_maps()), "."));
}

ForeignModel read_torch_json(const Json& root, const std::vector<std::string>& order,
                             const std::string& where) {
  ForeignModel model{.format = "torch-json"};
  model.layers = layers_of(dict_of(root, {where}), order, where);
  model.input = input_of(model.layers, where);
  return model;
}

ForeignModel read_guitarml(const Json& root, const std::string& where) {
  const Json& data = object_at(root, "model_data", {where});
  const Json& tensors = object_at(root, "state_dict", {where});
  const Place place{.file = where, .pointer = "/model_data"};
  if (const std::string kind = text_at(data, "model", place); kind != "SimpleRNN")
    throw unexpected(part_of(place, "model"), Rule::not_supported,
                     "the supported model SimpleRNN, with unit_type LSTM, GRU or RNN", quote(kind));
  ForeignModel model{.format = "guitarml"};
  const Place dict_place{.file = where, .pointer = "/state_dict"};
  for (const auto& [name, value] : tensors.items())
    if (!name.starts_with("rec.") && !name.starts_with("lin."))
      throw unexpected(part_of(dict_place, name), Rule::not_supported, "tensors of the modules rec and lin");
  model.layers = layers_of(dict_of(tensors, dict_place), {"rec", "lin"}, where);
  model.input = input_of(model.layers, where);
  check_model_data(data, model, place);
  if (data.contains("skip")) model.skip = count_at(data, "skip", place, 0);
  if (model.skip > model.input)
    throw unexpected(part_of(place, "skip"), Rule::out_of_range,
                     text_of("at most the ", model.input, " inputs"), text_of(model.skip));
  return model;
}

}  // namespace lagtape::foreign
