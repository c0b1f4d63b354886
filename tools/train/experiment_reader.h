#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "lagtape/cells/models/model_definition.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

// Internal: includes nlohmann/json.

/// Reads the document of an experiment; `base` is absolute. Throws InputError with all of its errors.
Experiment read_document(const Json& document, const std::string& where, const std::filesystem::path& base);

/// The keys of `data` that name files or folders.
inline constexpr std::array kDataPaths = {"path", "vectors"};

/// What a model must fit: classes have a logit each, unless the loss is on one logit.
DataWidths widths_of(Loss loss, const DataShape& data);

/// The value at a JSON Pointer; null when there is none.
const Json& at_pointer(const Json& document, const char* pointer);

}  // namespace lagtape
