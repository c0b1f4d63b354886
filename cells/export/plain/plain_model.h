#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lagtape/cells/export/exported_model.h"
#include "lagtape/cells/export/gated_layer.h"

namespace lagtape {

/// A model of layers that other programs have: lstm, gru, rnn and affine maps ("linear"), one after the other.
struct PlainModel {
  std::unique_ptr<ExportedModel> content;  ///< in f64; what the layers point to
  std::vector<GatedLayer> layers;          ///< the read-out last
};

/// A model in plain layers. Its normalisation becomes part of the weights of its first and last layer, and
/// layers that do nothing outside of training (dropout) are left out. Throws InputError for a model that
/// cannot run step by step, for tokens, and for a layer that is not among `cells`, which names it and those
/// of `format`.
PlainModel plain_model(const Model& model, const std::string& format, const std::vector<std::string>& cells);

}  // namespace lagtape
