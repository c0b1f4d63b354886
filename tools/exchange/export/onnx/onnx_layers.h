#pragma once

#include <span>
#include <string>

#include "lagtape/tools/exchange/export/exported_model.h"
#include "lagtape/tools/exchange/export/gated_layer.h"
#include "lagtape/tools/exchange/export/onnx/onnx_writer.h"

namespace lagtape {

// Layers over whole sequences x [batch, time, input]; each function returns the name of [batch, time, width].

/// Exports a stateless layer by treating every time step as a row.
std::string add_rows(OnnxWriter& graph, const ExportedLayer& layer, const std::string& x, Dtype dtype);
/// An LSTM, GRU or RNN node.
std::string add_recurrence(OnnxWriter& graph, const GatedLayer& layer, const std::string& x);
/// Stacked layers as one Scan over the steps.
std::string add_scan(OnnxWriter& graph, std::span<const ExportedLayer> layers, const std::string& x,
                     Dtype dtype);

/// Whether a layer's steps depend neither on each other nor on their number.
bool has_independent_steps(const ExportedLayer& layer);

}  // namespace lagtape
