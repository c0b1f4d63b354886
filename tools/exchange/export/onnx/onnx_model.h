#pragma once

#include <string>

#include "lagtape/cells/models/model.h"
#include "lagtape/tools/exchange/export/step_names.h"

namespace lagtape {

/// A model as the bytes of an ONNX file for whole sequences, with any number of steps and rows: from x [batch,
/// time, input], or tokens [batch, time] in i64, to y [batch, time, output], or [batch, output] if the read-out
/// reads once, in the units of the data. Layers that ONNX supports become its LSTM, GRU and RNN (in f32); other
/// layers with states become a Scan whose states hold their pasts and start like the model's. With `lengths`, a
/// read-out that reads once does so at the end of each sequence, for an input lengths [batch] in i64. Throws
/// InputError for lengths if the read-out reads every step or the padding. The file's description lists the
/// names of the numbers of a step.
std::string onnx_sequence_model(const Model& model, bool with_lengths = false, const StepNames& names = {});

/// A model as the bytes of an ONNX file for one step: from x [batch, input], or tokens [batch], and the states,
/// to y [batch, output] and the states after the step, "layer0.h" to "layer0.h.next", which a host feeds back.
/// All states start as zeros. A read-out is applied at every step, as in Stream. Throws InputError for a model
/// that cannot run step by step or has other initial states.
std::string onnx_step_model(const Model& model, const StepNames& names = {});

}  // namespace lagtape
