#include "lagtape/tools/exchange/export/plain/nam_file.h"

#include <algorithm>

#include "lagtape/core/error.h"
#include "lagtape/core/json/json.h"
#include "lagtape/tools/exchange/export/plain/plain_model.h"

namespace lagtape {
namespace {

const std::vector<std::string> kGates = {"_i", "_f", "_g", "_o"};

/// Adds rows `row` of matrices, one after the other.
void add_row(Json& numbers, const std::vector<Tensor>& matrices, std::int64_t row) {
  for (const Tensor& matrix : matrices)
    for (std::int64_t i = 0; i < matrix.size(1); ++i) numbers.push_back(matrix.at(row * matrix.size(1) + i));
}

/// The state before the first step, zeros where the layer says nothing of it.
void add_start(Json& numbers, const GatedLayer& layer, const std::string& name) {
  const ExportedLayer& content = *layer.layer;
  const auto& states = content.program.states;
  const auto state = std::ranges::find(states, name, &StateDefinition::name);
  for (std::int64_t i = 0; i < layer.units; ++i)
    numbers.push_back(content.start.empty() ? 0.0 : content.start[state - states.begin()].at(i));
}

/// Gates [4 H, input + H], their bias, and the states h and c.
void add_layer(Json& numbers, const GatedLayer& layer) {
  const std::vector<Tensor> matrices = {layer.stacked("U", kGates), layer.stacked("W", kGates)};
  for (std::int64_t row = 0; row < 4 * layer.units; ++row) add_row(numbers, matrices, row);
  const Tensor input_bias = layer.stacked("U", kGates, ".bias"),
               state_bias = layer.stacked("W", kGates, ".bias");
  for (std::int64_t row = 0; row < 4 * layer.units; ++row)
    numbers.push_back(input_bias.at(row) + state_bias.at(row));
  for (const char* state : {"h", "c"}) add_start(numbers, layer, state);
}

}  // namespace

std::string nam_file(const Model& model) {
  const PlainModel plain =
      plain_model(model, {.name = "Neural Amp Modeler", .cells = {"lstm"}, .has_start = true});
  const GatedLayer &first = plain.layers.front(), &readout = plain.layers.back();
  const auto is_of_other_size = [&](const GatedLayer& layer) {
    return &layer != &readout && layer.units != first.units;
  };
  if (std::ranges::any_of(plain.layers, is_of_other_size) || plain.layers.size() < 2 || readout.units != 1)
    throw InputError({.op = "export"}, Rule::not_supported,
                     "Neural Amp Modeler has lstm layers of one size and a read-out of one output");
  Json numbers = Json::array();
  for (const GatedLayer& layer : plain.layers)
    if (&layer != &readout) add_layer(numbers, layer);
  add_row(numbers, {readout.weight("W")}, 0);
  numbers.push_back(readout.weight("W.bias").at(0));
  Json root = Json::object();
  root["version"] = "0.5.4";  // of the format: NAM reads files of 0.5
  root["metadata"] = Json::object();
  root["architecture"] = "LSTM";
  root["config"] = {{"input_size", first.input},
                    {"hidden_size", first.units},
                    {"num_layers", std::ssize(plain.layers) - 1}};
  root["weights"] = numbers;
  return root.dump() + "\n";
}

}  // namespace lagtape
