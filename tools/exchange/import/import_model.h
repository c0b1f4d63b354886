#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/core/precision.h"

namespace lagtape {

struct ImportOptions {
  /// One of import_formats(); empty: detected from the file's content.
  std::string format = {};
  /// The names of PyTorch modules from the input up; empty: the file's order.
  std::vector<std::string> order = {};
  /// The function in nn.RNN, "tanh" or "relu"; empty: as in the file, else tanh.
  std::string nonlinearity = {};
  /// The model's precision; none: f64 if the file contains an f64 tensor, else f32.
  std::optional<Precision> precision = {};
  /// The model starts in the state to which it settles for this input, instead of zeros or the file's states.
  std::optional<double> rest = {};
  /// The function between consecutive linear maps from PyTorch: "relu", ..., "none"; empty: none, with a note.
  std::string between = {};
};

/// Another program's model as a lagtape model.
struct ImportedModel {
  Model model;
  std::string format;                   ///< its original format
  std::vector<std::string> notes = {};  ///< notes about what the file leaves open
};

/// The formats: "torch" (a state_dict of nn.RNN, nn.LSTM, nn.GRU, their cells, and nn.Linear as safetensors or
/// by torch.save), "keras" (a Keras 3 file), "keras-weights" (only its weights), "torch-json" (a state_dict as
/// RTNeural's JSON), "rtneural" (Keras models as JSON, and AIDA-X), "guitarml" (and Proteus), "nam" (LSTM),
/// "onnx".
const std::vector<std::string>& import_formats();

/// Reads a model, which computes the same numbers up to rounding. Its experiment contains the model, the loss
/// mse and no data. Throws InputError "FILE: PLACE: ..." for a file that is damaged, has inconsistent shapes or
/// a tensor that no layer uses, or contains an unsupported layer.
ImportedModel import_model(const std::filesystem::path& file, const ImportOptions& options = {});

}  // namespace lagtape
