#pragma once

#include <string>
#include <vector>

#include "lagtape/tools/exchange/export/exported_model.h"
#include "lagtape/tools/exchange/export/onnx/onnx_writer.h"

namespace lagtape {

/// A tensor that a step reads and updates, [batch, ...extents].
struct OnnxState {
  std::string name;  ///< "layer0.h"
  Dtype dtype = Dtype::f32;
  /// [width], or [steps, width] for a state with lags: its past, oldest first and present last.
  std::vector<std::int64_t> extents;

  OnnxShape shape() const;  ///< with the batch first
};

/// The states of a layer; the last is "LAYER.n", the number of steps so far [1], if its step reads it.
std::vector<OnnxState> onnx_states(const ExportedLayer& layer, Dtype dtype);

/// One step of a layer as nodes.
struct OnnxStep {
  std::string output;               ///< [batch, width]
  std::vector<std::string> states;  ///< after the step, in the order of onnx_states
};

/// Adds a step of the layer for x [batch, input] to the graph. `states` are the names of its states before the
/// step.
OnnxStep add_step(OnnxWriter& graph, const ExportedLayer& layer, const std::string& x,
                  const std::vector<std::string>& states, Dtype dtype);

}  // namespace lagtape
