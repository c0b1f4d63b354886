#pragma once

#include <vector>

#include "lagtape/tools/exchange/import/onnx_call.h"

namespace lagtape::foreign {

/// Token vectors: rows of a table, selected by numbers computed from the model's tokens, of which there are as
/// many as rows. Exporters count negative tokens from the end, for example.
std::vector<OnnxOperand> embedding(const OnnxCall& call);

}  // namespace lagtape::foreign
