#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lagtape/tools/exchange/export/exported_model.h"
#include "lagtape/tools/exchange/export/gated_layer.h"

namespace lagtape {

/// A model of layers that other programs support: lstm, gru, rnn and affine maps ("linear"), one after the
/// other.
struct PlainModel {
  std::unique_ptr<ExportedModel> content;  ///< in f64; the layers point to it
  std::vector<GatedLayer> layers;          ///< the read-out last
};

/// What a format supports.
struct PlainFormat {
  std::string name;
  std::vector<std::string> cells;  ///< of GatedLayer::cell
  bool has_functions = false;      ///< of GatedLayer::function
  bool resets_before = false;      ///< GatedLayer::resets_before may be true
  bool has_start = false;          ///< layers may have nonzero initial states
};

/// A model in plain layers. Its normalization is folded into the weights of its first and last layer, which may
/// add biases, and layers without effect outside training (dropout) are omitted. Throws InputError for a model
/// that cannot run step by step, for tokens, and for a layer that the format lacks, by name.
PlainModel plain_model(const Model& model, const PlainFormat& format);

}  // namespace lagtape
