#pragma once

#include "lagtape/tools/exchange/import/foreign_model.h"
#include "lagtape/tools/exchange/import/onnx_call.h"

namespace lagtape::foreign {

/// The layer for an RNN, LSTM or GRU node whose initial states are constants or not given. Throws InputError
/// that starts with the file and the node for unsupported features: peepholes, clipping, other activations,
/// reverse direction only, unequal lengths.
ForeignRecurrence recurrence_of(const OnnxCall& call);

/// The outputs of a recurrence node that is given one step, and its initial states as values, as exporters
/// write a cell.
std::vector<OnnxOperand> recurrence_step(const OnnxCall& call);

}  // namespace lagtape::foreign
