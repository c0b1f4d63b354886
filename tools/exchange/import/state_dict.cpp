#include "lagtape/tools/exchange/import/state_dict.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "lagtape/core/error.h"
#include "lagtape/core/quote.h"
#include "lagtape/tools/exchange/import/module_order.h"

namespace lagtape::foreign {
namespace {

constexpr const char* kSupported = "nn.RNN, nn.LSTM, nn.GRU, their cells, and nn.Linear";

/// Splits "encoder.lstm.weight_ih_l0" into the module's name and the tensor's.
std::pair<std::string, std::string> split_name(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

/// "nn.LSTM 'lstm'", or without a name where the module is the model itself.
std::string title_of(const std::string& module) {
  return module.empty() ? std::string("the module") : text_of("module '", module, "'");
}

/// Reads the modules of a state_dict.
class StateDictReader {
 public:
  StateDictReader(const StateDict& dict, const std::string& where)
      : reader_(dict.file, where), where_(where) {
    std::unordered_set<std::string> known;
    for (const NamedTensor& entry : dict.file.tensors) {
      const std::string module = split_name(entry.name).first;
      if (known.insert(module).second) names_.push_back(module);
    }
  }

  std::vector<Module> modules() {
    std::vector<Module> all;
    for (const std::string& name : names_) {
      const std::string prefix = name.empty() ? "" : name + ".";
      if (reader_.contains(prefix + "weight_ih_l0")) {
        all.push_back(recurrence(name, prefix));
      } else if (reader_.contains(prefix + "weight_ih")) {  // nn.LSTMCell and others
        ForeignRecurrence step{.directions = {cell(prefix, "")}};
        const std::int64_t input = step.directions[0].input, units = step.directions[0].units;
        all.push_back({name, input, units, true, {{title_of(name), std::move(step)}}});
      } else if (reader_.contains(prefix + "weight")) {
        all.push_back(linear(name, prefix));
      }
    }
    refuse_the_rest();
    return all;
  }

 private:
  Place place_of(const std::string& tensor) const {
    return {.file = where_, .item = text_of("tensor ", quote(tensor))};
  }

  Tensor take_matrix(const std::string& name) {
    Tensor tensor = reader_.take(name);
    if (tensor.rank() == 2) return tensor;
    throw InputError(place_of(name), Rule::not_supported,
                     text_of(tensor.rank() == 3 ? "a convolution" : "a module", " with a weight ",
                             to_string(tensor.shape()), " is not supported"),
                     {}, text_of("Supported: ", kSupported, "."));
  }

  Module linear(const std::string& name, const std::string& prefix) {
    ForeignDense dense;
    dense.W = take_matrix(prefix + "weight");
    if (reader_.contains(prefix + "bias"))
      dense.bias = reader_.take(prefix + "bias", {dense.W.size(0)}, Dtype::f64);
    Module module{name, dense.W.size(1), dense.W.size(0), false, {}};
    module.layers.push_back({title_of(name), std::move(dense)});
    return module;
  }

  Module recurrence(const std::string& name, const std::string& prefix) {
    Module module{name, 0, 0, true, {}};
    const bool both = reader_.contains(prefix + "weight_ih_l0_reverse");
    for (std::int64_t l = 0; reader_.contains(text_of(prefix, "weight_ih_l", l)); ++l) {
      ForeignRecurrence layer;
      layer.directions.push_back(cell(prefix, text_of("_l", l)));
      if (both) layer.directions.push_back(cell(prefix, text_of("_l", l, "_reverse")));
      if (l == 0) module.input = layer.directions[0].input;
      const ForeignCell& first = layer.directions[0];
      if (both && (layer.directions[1].kind != first.kind || layer.directions[1].units != first.units))
        throw InputError({.file = where_, .item = title_of(name)}, Rule::conflict,
                         text_of("layer ", l, " has ", first.units, " units forward and ",
                                 layer.directions[1].units, " backward."));
      module.layers.push_back({text_of(title_of(name), ", layer ", l), std::move(layer)});
      module.output = width_after(module.layers.back(), 0);
    }
    return module;
  }

  /// A cell whose tensors' names end in `suffix`: "_l0", "_l0_reverse".
  ForeignCell cell(const std::string& prefix, const std::string& suffix) {
    ForeignCell cell;
    const auto name_of = [&](const char* kind) { return text_of(prefix, kind, suffix); };
    if (const std::string name = name_of("weight_hr"); reader_.contains(name))
      throw InputError(place_of(name), Rule::not_supported,
                       "projections of an LSTM (proj_size) are not supported.");
    const Tensor W = take_matrix(name_of("weight_hh")), U = take_matrix(name_of("weight_ih"));
    cell.units = W.size(1);
    cell.input = U.size(1);
    const std::int64_t rows = W.size(0), gates = cell.units > 0 ? rows / cell.units : 0;
    if (gates * cell.units != rows || (gates != 1 && gates != 3 && gates != 4))
      throw unexpected(place_of(name_of("weight_hh")), Rule::shape,
                       "[G H, H] with G = 1 (nn.RNN), 3 (nn.GRU) or 4 (nn.LSTM)", to_string(W.shape()));
    if (U.size(0) != rows)
      throw unexpected(place_of(name_of("weight_ih")), Rule::shape, text_of(rows, " rows, as weight_hh has"),
                       to_string(U.shape()));
    cell.kind = gates == 1 ? CellKind::rnn : gates == 3 ? CellKind::gru : CellKind::lstm;
    const auto bias = [&](const std::string& name) {
      return reader_.contains(name) ? reader_.take(name, {rows}, Dtype::f64) : Tensor();
    };
    const Tensor W_bias = bias(name_of("bias_hh")), U_bias = bias(name_of("bias_ih"));
    if (W_bias.empty() != U_bias.empty())
      throw InputError(place_of(name_of(W_bias.empty() ? "bias_hh" : "bias_ih")), Rule::missing,
                       "is missing; the other bias is there.");
    cell.gates = split_gates(cell.kind, gates_of(cell.kind), W, U, W_bias, U_bias);
    return cell;
  }

  void refuse_the_rest() const {
    try {
      reader_.finish();
    } catch (const InputError& error) {
      throw error.with_hint(text_of("Supported: ", kSupported, "."));
    }
  }

  TensorReader reader_;
  const std::string& where_;
  std::vector<std::string> names_;
};

}  // namespace

std::vector<ForeignLayer> layers_of(const StateDict& dict, const std::vector<std::string>& order,
                                    const std::string& where) {
  std::vector<Module> modules = StateDictReader(dict, where).modules();
  std::vector<ForeignLayer> layers;
  for (Module& module : in_order(std::move(modules), dict.in_order, order, where))
    for (ForeignLayer& layer : module.layers) layers.push_back(std::move(layer));
  return layers;
}

}  // namespace lagtape::foreign
