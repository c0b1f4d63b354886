#pragma once

#include <string>
#include <string_view>

#include "lagtape/tools/exchange/import/foreign_model.h"

namespace lagtape::foreign {

/// An ONNX file whose nodes follow each other from the one input to the first output: RNN, LSTM, GRU, MatMul, Gemm,
/// Add (of a bias; of the input, at the end), Tanh, Sigmoid, Relu, and what only moves axes: Transpose, Squeeze,
/// Unsqueeze, Reshape, Identity, Dropout; for the last step alone the output Y_h, or Gather of index -1. The batch
/// may be the first or the second axis. Throws InputError that begins with `where` and names the node.
ForeignModel read_onnx(std::string_view bytes, const std::string& where);

}  // namespace lagtape::foreign
