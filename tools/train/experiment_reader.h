#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "lagtape/cells/models/experiment_paths.h"
#include "lagtape/core/json/json_reader.h"
#include "lagtape/tools/train/experiment.h"

namespace lagtape {

/// The JSON value of an experiment with every default filled in.
struct ExperimentDocument {
  Json json;
};

/// Reads the document of an experiment; `base` is absolute. Throws InputError with all of its errors.
Experiment read_document(const Json& document, const std::string& where, const std::filesystem::path& base);

/// The document after the assignments of `--set` ("train.epochs=3"). Throws InputError.
Json assigned(Json document, std::span<const std::string> assignments);

/// Removes the options of training that only add to what is reported: no weight depends on them.
void leave_out_reports(Json& experiment);

/// The value at a JSON Pointer; null when there is none.
const Json& at_pointer(const Json& document, const char* pointer);

}  // namespace lagtape
