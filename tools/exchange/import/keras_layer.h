#pragma once

#include <string>
#include <vector>

#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/json/json.h"
#include "lagtape/core/problem.h"
#include "lagtape/tools/exchange/import/step_graph.h"

namespace lagtape::foreign {

/// A value in a Keras model: a vector at every step, or only at the last.
struct KerasValue {
  int value = 0;
  bool is_last = false;
};

/// An entry of "layers" of a model's configuration.
struct KerasLayerEntry {
  Json config;
  std::string type;  ///< "LSTM"
  Place place;       ///< with the layer's name
  std::string path;  ///< of its weights: "layers/lstm_1"
};

/// The value that a layer computes from its inputs; `weights` are in f64.
KerasValue keras_output(const KerasLayerEntry& layer, const std::vector<KerasValue>& inputs,
                        TensorReader& weights, StepGraph& graph, std::vector<std::string>& notes);

}  // namespace lagtape::foreign
