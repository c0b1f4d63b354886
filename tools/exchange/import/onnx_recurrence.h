#pragma once

#include "lagtape/tools/exchange/import/foreign_model.h"
#include "lagtape/tools/exchange/import/onnx_call.h"

namespace lagtape::foreign {

/// The layer of a node RNN, LSTM or GRU whose first states are constants or not given. Throws InputError that begins with
/// the file and the node for what lagtape does not have: peepholes, clipping, other activations, one direction backwards,
/// unequal lengths.
ForeignRecurrence recurrence_of(const OnnxCall& call);

}  // namespace lagtape::foreign
