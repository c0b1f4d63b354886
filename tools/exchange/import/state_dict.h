#pragma once

#include <string>
#include <vector>

#include "lagtape/core/io/safetensors.h"
#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// The tensors of a PyTorch state_dict in f64.
struct StateDict {
  SafetensorsFile file;
  bool in_order = false;  ///< the tensors are in the order in which the model defines its modules
};

/// The layers of nn.RNN, nn.LSTM, nn.GRU, their cells, and nn.Linear, each of which reads the output of the one
/// before. `order` lists the modules from the input up. Without it, the file's order is used if it has one, or
/// the only order in which the widths fit, numbers in names count up (nn.Sequential, nn.ModuleList), and every
/// nn.Linear without a number comes last. Throws InputError that starts with `where` for tensors of other
/// modules, for a module that lacks a tensor, and for an ambiguous order.
std::vector<ForeignLayer> layers_of(const StateDict& dict, const std::vector<std::string>& order,
                                    const std::string& where);

}  // namespace lagtape::foreign
