#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "lagtape/cells/models/fitted_model.h"
#include "lagtape/cells/models/model.h"
#include "lagtape/core/io/safetensors.h"
#include "lagtape/core/json/json_reader.h"

namespace lagtape {

/// A weights file that has been read before its model is built. It keeps the parsed experiment, so the text is
/// not parsed twice, nor the model fitted twice.
class ModelFile {
 public:
  /// Reads a weights file, or the one in a run folder. Throws InputError with the file's name.
  static ModelFile read(const std::filesystem::path& run_or_file);
  /// Reads the bytes of a weights file. `where` names the file in messages.
  static ModelFile parse(std::string_view bytes, const std::string& where);

  const std::string& where() const { return where_; }  ///< the name of the file in messages
  /// as written: paths are relative to `folder`
  const Json& experiment() const { return experiment_; }
  const std::filesystem::path& folder() const { return folder_; }  ///< empty if bytes were read
  const DataWidths& widths() const { return widths_; }

  /// The experiment's model, with the file's tensors. Throws InputError with the tensor that does not fit.
  Model model() &&;
  /// The same for the experiment's model that was already read and fitted to `widths`.
  Model model(FittedModel fitted) &&;

 private:
  ModelFile(SafetensorsFile content, const std::string& where);

  std::string where_;
  SafetensorsFile content_;
  DataWidths widths_;
  Json experiment_;
  std::filesystem::path folder_;
};

/// The content of a model's weights file in a folder, with the experiment's paths relative to it; without a
/// folder they are unchanged.
SafetensorsFile content_of(const Model& model, const std::filesystem::path& folder = {});

}  // namespace lagtape
