#pragma once

#include "lagtape/tools/exchange/import/foreign_model.h"
#include "lagtape/tools/exchange/import/onnx_call.h"

namespace lagtape::foreign {

/// The layer of a node RNN, LSTM or GRU whose first states are constants or not given. Throws InputError that begins with
/// the file and the node for features that lagtape lacks: peepholes, clipping, other activations, one direction
/// backwards, unequal lengths.
ForeignRecurrence recurrence_of(const OnnxCall& call);

/// The outputs of a node of a recurrence that is given one step, and its first states as values, as exporters write a cell.
std::vector<OnnxOperand> recurrence_step(const OnnxCall& call);

}  // namespace lagtape::foreign
