#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// An ONNX file of a model with one input [time, batch, numbers] or [batch, time, numbers] and recurrences RNN,
/// LSTM and GRU. Shapes are computed for one batch; axes that the file leaves open stay open. Nodes that
/// compute from the input at every step, or over all steps, become layers (step_layers.h). Numbers may be
/// stored in other files in `folder`. Throws InputError that starts with `where` and names the node.
ForeignModel read_onnx(std::string_view bytes, const std::filesystem::path& folder, const std::string& where);

}  // namespace lagtape::foreign
