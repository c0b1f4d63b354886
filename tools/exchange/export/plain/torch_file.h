#pragma once

#include <string>

#include "lagtape/cells/models/model.h"

namespace lagtape {

/// A model as the bytes of a safetensors file with the names of PyTorch's modules, in the model's precision:
/// nn.LSTM, nn.GRU, nn.RNN and nn.Linear, called "0", "1", ... from the input up. Consecutive layers of one
/// cell and size form one module. The metadata contain "modules", such as "LSTM 1 16 2, Linear 16 1" (kind,
/// input, output, and number of layers), and "read", the step at which the read-out reads. Throws InputError as
/// plain_model does.
std::string torch_file(const Model& model);

}  // namespace lagtape
