#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lagtape/cells/models/model.h"
#include "lagtape/core/precision.h"

namespace lagtape {

struct ImportOptions {
  /// One of import_formats(); empty: found by the file's content.
  std::string format = {};
  /// The names of PyTorch modules from the input up; empty: the order of the file.
  std::vector<std::string> order = {};
  /// The function of nn.RNN, "tanh" or "relu"; empty: as the file says, else tanh.
  std::string nonlinearity = {};
  /// The precision of the model; none: f64 if a tensor of the file has it, else f32.
  std::optional<Precision> precision = {};
  /// The model begins in the state to which it settles for this input, instead of zeros or the file's states.
  std::optional<double> rest = {};
  /// The function between linear maps of PyTorch that follow each other: "relu", ..., "none"; empty: none, with a note.
  std::string between = {};
};

/// A model of another program as a lagtape model.
struct ImportedModel {
  Model model;
  std::string format;                   ///< the format that it was in
  std::vector<std::string> notes = {};  ///< notes on what the file leaves open
};

/// The formats: "torch" (a state_dict of nn.RNN, nn.LSTM, nn.GRU, their cells, and nn.Linear as safetensors or by torch.save),
/// "keras" (a file of Keras 3), "keras-weights" (weights of one), "torch-json" (a state_dict as RTNeural's JSON), "rtneural" (Keras models as JSON, and AIDA-X),
/// "guitarml" (and Proteus), "nam" (LSTM), "onnx".
const std::vector<std::string>& import_formats();

/// Reads a model, which gives the same numbers up to rounding. Its experiment has the
/// model, the loss mse and no data. Throws InputError "FILE: PLACE: ..." for a file that is damaged, whose shapes do
/// not fit, with a tensor that no layer uses, or with a layer that is not supported.
ImportedModel import_model(const std::filesystem::path& file, const ImportOptions& options = {});

}  // namespace lagtape
